"""
Python text cut into its statements, and put together again by hand's rules.

A notebook cell stays as its author typed it, comments and blank lines
included; single definitions are replaced, the others are not touched.
"""

from __future__ import annotations

import ast
import itertools
import symtable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """
    A piece of text that is moved as a whole: a statement with the comments above it.

    Parameters
    ----------
    text : str
        Whole lines.
    nodes : tuple of ast.stmt
        The statement; several if they share a line.
    spaced : bool
        True if a blank line stood before it.
    binds : frozenset of str
        Names that it gives a value to.
    uses : frozenset of str
        Global names that it needs, at once or when what it defines is called.
    """

    text: str
    nodes: tuple[ast.stmt, ...]
    spaced: bool
    binds: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()

    @property
    def block(self) -> bool:
        """True for a function or class, which stands apart from its neighbours."""
        return isinstance(self.nodes[0], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def cut(source: str) -> list[Statement]:
    """
    Cut the text of a cell or module into its top-level statements.

    Parameters
    ----------
    source : str
        Python text.

    Returns
    -------
    list of Statement
        In order; comments after the last statement are dropped.

    Raises
    ------
    SyntaxError
        If it is not Python.
    """
    pieces = _cut(source.splitlines(), ast.parse(source).body, 0)
    return [_with_names(piece) for piece in pieces]


def names_bound(statements: Iterable[Statement]) -> frozenset[str]:
    """
    Return every name that the statements bind.

    Parameters
    ----------
    statements : iterable of Statement
        Any statements.

    Returns
    -------
    frozenset of str
        Names.
    """
    return frozenset(name for statement in statements for name in statement.binds)


def needed_by(wanted: Iterable[Statement], available: Collection[Statement]) -> list[Statement]:
    """
    Return the available statements that the wanted ones use, directly or not.

    Parameters
    ----------
    wanted : iterable of Statement
        Where the search starts.
    available : collection of Statement
        Helpers and imports.

    Returns
    -------
    list of Statement
        Part of `available`, in its order.
    """
    open_names = {name for statement in wanted for name in statement.uses}
    found: set[Statement] = set()
    while more := {one for one in available if one not in found and one.binds & open_names}:
        found |= more
        open_names |= {name for one in more for name in one.uses}
    return [one for one in available if one in found]


def overlay(cell: Iterable[Statement], mine: Sequence[Statement], helpers: Sequence[Statement]) -> str:
    """
    Write a cell with my definitions in place of its own.

    Parameters
    ----------
    cell : iterable of Statement
        The cell.
    mine : sequence of Statement
        Each takes the place of the first statement that binds one of its
        names. A class is completed with the members that it lacks.
    helpers : sequence of Statement
        What goes before the first replaced definition.

    Returns
    -------
    str
        The new text of the cell.
    """
    replaced = names_bound(mine)
    waiting, result = list(mine), list[Statement]()
    for given in cell:
        if not given.binds or given.binds - replaced:
            result.append(given)
        if given.binds & replaced:
            taken = [own for own in waiting if own.binds & given.binds]
            waiting = [own for own in waiting if own not in taken]
            ready = [_completed(own, given) for own in taken]
            result += helpers
            result += [_placed(own, given) for own in ready[:1]] + ready[1:]
            helpers = ()
    return _join(result, gap=2)


def _cut(lines: Sequence[str], body: Iterable[ast.stmt], start: int) -> list[Statement]:
    """Cut lines into statements; the comments above a statement go with it."""
    pieces: list[Statement] = []
    for node in body:
        if pieces and node.lineno <= start:
            pieces[-1] = replace(pieces[-1], nodes=(*pieces[-1].nodes, node))
            continue
        end = node.end_lineno or node.lineno
        raw = "\n".join(lines[start:end])
        text = raw.lstrip("\n")
        pieces.append(Statement(text=text, nodes=(node,), spaced=text != raw))
        start = end
    return pieces


def _with_names(piece: Statement) -> Statement:
    """Add the names that a top-level statement binds and uses."""
    top = symtable.symtable(piece.text, "<statement>", "exec")
    symbols = top.get_symbols()
    binds = {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
    uses = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    tables = list(top.get_children())
    while tables:
        table = tables.pop()
        uses |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        tables += table.get_children()
    for node in piece.nodes:
        binds |= _changed_by(node)
    return replace(piece, binds=frozenset(binds), uses=frozenset(uses))


def _changed_by(node: ast.stmt) -> set[str]:
    """Return the names whose attributes or items a statement sets: it belongs with their definition."""
    names = set()
    for target in node.targets if isinstance(node, ast.Assign) else ():
        root = target
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            names.add(root.id)
    return names


def _join(pieces: Iterable[Statement], *, gap: int) -> str:
    """Write statements below each other, functions and classes `gap` blank lines apart."""
    text, last = "", None
    for piece in pieces:
        if last is not None:
            text += "\n" * (1 + (gap if piece.block or last.block else int(piece.spaced)))
        text, last = text + piece.text, piece
    return text


def _placed(own: Statement, given: Statement) -> Statement:
    """Return a statement with the comments and the docstring that the cell came with, and its distance."""
    above = itertools.takewhile(lambda line: line.startswith("#") or not line, given.text.splitlines())
    return replace(own, text="\n".join([*above, _documented(own, given)]), spaced=given.spaced)


def _documented(own: Statement, given: Statement) -> str:
    """Return the text of a function with the docstring of the one it replaces, if it has none of its own."""
    mine, theirs = own.nodes[0], given.nodes[0]
    lines = own.text.splitlines()
    if (
        isinstance(mine, ast.FunctionDef)
        and isinstance(theirs, ast.FunctionDef)
        and ast.get_docstring(theirs) is not None
        and ast.get_docstring(mine) is None
        and mine.body[0].lineno > mine.lineno
    ):
        # A piece ends with its node, so places in it are counted from the end.
        first, doc = len(lines) - 1 - _to_end(mine, mine.body[0]), theirs.body[0]
        given_lines = given.text.splitlines()
        start = len(given_lines) - 1 - _to_end(theirs, doc)
        lines[first:first] = given_lines[start : start + (doc.end_lineno or doc.lineno) - doc.lineno + 1]
    return "\n".join(lines)


def _to_end(node: ast.stmt, part: ast.stmt) -> int:
    """Return how many lines lie between the first line of a part and the last line of its node."""
    return (node.end_lineno or node.lineno) - part.lineno


def _completed(own: Statement, given: Statement) -> Statement:
    """Return a partial class with the members of the class it replaces; anything else as it is."""
    mine, theirs = own.nodes[0], given.nodes[0]
    if not (isinstance(mine, ast.ClassDef) and isinstance(theirs, ast.ClassDef)):
        return own
    if mine.bases or mine.body[0].lineno == mine.lineno:
        return own
    # Parsed again, for positions inside the piece.
    mine, theirs = (cast("ast.ClassDef", ast.parse(piece.text).body[0]) for piece in (own, given))
    head = "\n".join(own.text.splitlines()[: mine.lineno])
    waiting, result = _members(own.text, mine), list[Statement]()
    replaced = names_bound(waiting)
    for member in _members(given.text, theirs):
        if not member.binds & replaced:
            result.append(member)
            continue
        place = max((i for i, other in enumerate(waiting) if member.binds & other.binds), default=-1)
        for other in waiting[: place + 1]:
            same = member.binds == other.binds
            result.append(replace(other, text=_documented(other, member)) if same else other)
        waiting = waiting[place + 1 :]
    return replace(own, text=head + "\n" + _join([*result, *waiting], gap=1))


def _members(text: str, node: ast.ClassDef) -> list[Statement]:
    """Cut a class body into its members with their names; the docstring's is `__doc__`."""
    members = []
    for piece in _cut(text.splitlines(), node.body, node.lineno):
        first = piece.nodes[0]
        if isinstance(first, ast.Expr):
            names = {"__doc__"}
        else:
            names = _changed_by(first) | {getattr(first, "name", "")} - {""}
        members.append(replace(piece, binds=frozenset(names)))
    return members
