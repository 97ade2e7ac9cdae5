"""
Machine-made mistakes: a program changed in one place, in every way of a list.

Made here on the syntax tree, and not with one of the mutation tools on PyPI: those change files on disk and
start a test run for each mutant (some 0.3 s, hundreds of times), bring a web client and a database or a
terminal interface, and know neither numpy's axes and permutations nor what was changed in a way that stays
the same when lines move.

No mutant runs for ever: none is made of a program with `while`, and nothing becomes a power. One may ask for
more memory than there is, which its user has to bound.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Div, ast.FloorDiv),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.FloorDiv: (ast.Mult, ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult, ast.Div),
    ast.MatMult: (ast.Mult, ast.Add),
}
COMPARISONS: tuple[type[ast.cmpop], ...] = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
OPPOSITES = {ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,)}
ALIKE = tuple(
    set(names.split())
    for names in (
        "max min sum mean prod",
        "any all",
        "sqrt square cbrt",
        "exp exp2 log abs",
        "array_equal allclose array_equiv",
        "repeat tile",
        "unique sort",
        "zeros ones",
        "stack concatenate hstack vstack",
        "minimum maximum",
        "logical_and logical_or",
        "sorted list",
    )
)
"""Functions that take the same arguments."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed program, and what names the change: the function, and the line as it now is."""

    key: str
    source: str


@dataclass(frozen=True, slots=True)
class Place:
    """A node of the tree, where it hangs, and what stands around it."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    line: ast.stmt
    function: str
    names: tuple[str, ...]

    def put(self, node: ast.AST) -> None:
        """Hang another node here."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(source: str, *, leave: Collection[str] = ()) -> list[Mutant]:
    """Return all mutants of a program, but those of the functions that are to be left alone."""
    tree = ast.parse(source)
    if any(isinstance(node, ast.While) for node in ast.walk(tree)):
        raise ValueError("a mutant of a program with `while` may never end")
    attributes = frozenset(data_attributes(tree))
    same, seen = ast.unparse(tree), Counter[str]()
    found: dict[str, Mutant] = {}
    for place in list(places(tree)):
        if place.function.rpartition(".")[2] in leave:
            continue
        for node in replacements(place, attributes):
            place.put(node)
            text, line = ast.unparse(tree), headline(place.line if place.line is not place.node else node)
            place.put(place.node)
            if text != same and text not in found and compiles(text):
                gone = f"without `{headline(place.line)}`" if isinstance(node, ast.Pass) else line
                key = f"{place.function}: {gone}"
                seen[key] += 1
                found[text] = Mutant(key if seen[key] == 1 else f"{key} ({seen[key]})", text)
    return list(found.values())


def data_attributes(tree: ast.AST) -> Iterator[str]:
    """Yield the attributes of `self` that are not called."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in called and is_self(node.value):
            yield node.attr


def is_self(node: ast.AST) -> bool:
    """Return whether a node is the name `self`."""
    return isinstance(node, ast.Name) and node.id == "self"


def headline(node: ast.AST) -> str:
    """Return a statement on one line, without the block below it."""
    return ast.unparse(node).partition("\n")[0]


def compiles(text: str) -> bool:
    """Return whether a text is Python."""
    try:
        compile(text, "<mutant>", "exec")
    except SyntaxError:
        return False
    return True


def places(tree: ast.Module) -> Iterator[Place]:
    """Yield every place where a change can be made: no signature, no docstring, no message."""

    def walk(node: ast.AST, line: ast.stmt | None, function: str, bound: dict[str, int]) -> Iterator[Place]:
        for name, index, child in children(node):
            own = child if isinstance(child, ast.stmt) else line
            if own is None or isinstance(child, ast.arguments | ast.JoinedStr) or is_text(child):
                continue
            known = tuple(sorted(one for one, since in bound.items() if since < own.lineno))
            yield Place(child, node, name, index, own, function, known)
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = f"{function}.{child.name}" if function else child.name
                yield from walk(child, own, inside, bindings(child))
            elif not isinstance(child, ast.Raise):
                yield from walk(child, own, function, bound)

    return walk(tree, None, "", bindings(tree))


def children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    """Yield the nodes below a node with where they hang."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield name, None, value
        elif isinstance(value, list):
            yield from ((name, index, one) for index, one in enumerate(value) if isinstance(one, ast.AST))


def bindings(tree: ast.AST) -> dict[str, int]:
    """Return the arguments and variables of a function, each with the line after which it has a value."""
    bound: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg != "self":
            bound[node.arg] = 0
        elif isinstance(node, ast.comprehension):
            bound |= dict.fromkeys((one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)), 0)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = min(node.lineno, bound.get(node.id, node.lineno))
    return bound


def is_text(node: ast.AST) -> bool:
    """Return whether a statement is a bare string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def replacements(place: Place, attributes: frozenset[str]) -> Iterator[ast.AST]:
    """Yield all that may stand in a place instead of what stands there."""
    node = place.node
    yield from changed(node)
    # Any variable but that one is not None, so there `True` says it all.
    if isinstance(node, ast.Name) and node.id in place.names and not is_identity(place.parent):
        yield from (ast.Name(name, node.ctx) for name in place.names if name != node.id)
    if isinstance(node, ast.Attribute) and is_self(node.value) and node.attr in attributes:
        yield from (ast.Attribute(node.value, name, node.ctx) for name in sorted(attributes - {node.attr}))
    if isinstance(node, ast.expr) and place.field == "test":
        yield from (ast.UnaryOp(ast.Not(), node), ast.Constant(value=True))
    if isinstance(node, ast.Name | ast.Attribute) and is_array(place):
        yield ast.Attribute(node, "T", ast.Load())


def is_identity(node: ast.AST) -> bool:
    """Return whether a node compares by `is`."""
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot)


def of_numpy(node: ast.AST) -> bool:
    """Return whether a function is one of numpy's."""
    return ast.unparse(node).startswith("np.")


def is_array(place: Place) -> bool:
    """Return whether a place is that of an array: a factor of a matrix product, an argument of numpy."""
    parent = place.parent
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.MatMult)
    return (
        isinstance(parent, ast.Call) and place.field == "args" and ast.unparse(parent.func).startswith("np.")
    )


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node may become, whatever stands around it."""
    if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import):
        yield ast.Pass()
    for kind, others in OTHERS.items():
        if isinstance(node, kind):
            yield from others(node)


def other_sums(node: ast.BinOp) -> Iterator[ast.AST]:
    """Yield one side of an operation, and the sides swapped, if that matters to numbers."""
    yield from (node.left, node.right)
    if not isinstance(node.op, ast.Add | ast.Mult):
        yield ast.BinOp(node.right, node.op, node.left)


def other_attributes(node: ast.Attribute) -> Iterator[ast.AST]:
    """Yield what may stand for an attribute: what it is one of, or one like it."""
    if node.attr == "T":
        yield node.value
    if ast.unparse(node) == "np.inf":
        yield from (ast.Constant(0), ast.Constant(10))
    yield from (ast.Attribute(node.value, name, node.ctx) for name in alike(node.attr))


def other_values(value: Any) -> Iterator[Any]:
    """Yield other constants of the same kind."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value * 2, -value)
    elif isinstance(value, str) and "->" in value:  # einsum: the next of its letters in one place
        letters = sorted({letter for letter in value if letter.isalpha()})
        following = dict(zip(letters, letters[1:] + letters[:1], strict=True))
        for index, old in enumerate(value):
            yield value[:index] + following.get(old, old) + value[index + 1 :]


def other_calls(call: ast.Call) -> Iterator[ast.AST]:
    """Yield a call with its arguments in another order, with one missing, or not made at all."""
    args, keywords = call.args, call.keywords
    for order in reordered(args):
        yield ast.Call(call.func, order, keywords)
    for index in range(len(args)):
        yield ast.Call(call.func, args[:index] + args[index + 1 :], keywords)
    for index in range(len(keywords)):
        yield ast.Call(call.func, args, keywords[:index] + keywords[index + 1 :])
    yield from args[:1]
    if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) not in {"np", "self", "math"}:
        yield call.func.value


def reordered(nodes: list[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield up to three nodes in every other order, and more with two neighbours swapped."""
    if len(nodes) <= 3:
        yield from map(list, permutations(nodes))
    else:
        yield from ([*nodes[:i], nodes[i + 1], nodes[i], *nodes[i + 2 :]] for i in range(len(nodes) - 1))


def alike(name: str) -> list[str]:
    """Return the functions that take the same arguments as one of this name."""
    return sorted(set().union(*(names for names in ALIKE if name in names)) - {name})


OTHERS: dict[type[ast.AST], Callable[[Any], Iterable[ast.AST]]] = {
    ast.operator: lambda node: (other() for other in ARITHMETIC.get(type(node), ())),
    ast.cmpop: lambda node: (other() for other in OPPOSITES.get(type(node), COMPARISONS)),
    ast.boolop: lambda _: (ast.Or(), ast.And()),
    ast.BinOp: other_sums,
    ast.UnaryOp: lambda node: (node.operand,),
    ast.Constant: lambda node: (ast.Constant(value) for value in other_values(node.value)),
    ast.Attribute: other_attributes,
    ast.Name: lambda node: (ast.Name(name, node.ctx) for name in alike(node.id)),
    ast.Call: other_calls,
    ast.Tuple: lambda node: (
        *(ast.Tuple(order, node.ctx) for order in reordered(node.elts)),
        *(node.elts if isinstance(node.ctx, ast.Load) else ()),
    ),
    ast.Slice: lambda node: (
        ast.Slice(None, node.upper, node.step),
        ast.Slice(node.lower, None, node.step),
    ),
    ast.IfExp: lambda node: (node.body, node.orelse),
}
"""What each kind of node may become."""
