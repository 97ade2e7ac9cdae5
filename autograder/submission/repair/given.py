"""What a released notebook gives to students, and what it asks them to define."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.statements import names_bound
from autograder.submission.repair.python import Python, meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.course.released import ReleasedNotebook
    from autograder.statements import Statement


@dataclass(frozen=True, slots=True)
class _Text:
    """What of a released cell matters here; equal for equal cells, so that a notebook is looked at once."""

    kind: Kind
    cell_type: str
    released: str
    source: str

    @property
    def is_code(self) -> bool:
        return self.cell_type == "code"

    @property
    def is_answer(self) -> bool:
        return self.is_code and self.kind in {Kind.SOLUTION, Kind.MANUAL}


@dataclass(frozen=True, slots=True)
class Given:
    """
    What a released notebook says about its cells; they are counted from 0.

    Parameters
    ----------
    texts : frozenset of str
        The cells as handed out and as graded, each as `plain` returns it.
    wanted : mapping of int to frozenset of str
        The names that each solution cell is to define.
    meanings : frozenset of str
        Every statement that is given, see `meaning`.
    programs : mapping of int to tuple of str
        The meaning of each given code cell, as handed out.
    bound : frozenset of str
        The names that given cells define, and Python itself.
    judges : mapping of int to int
        The test cell of each solution cell: the next one below it.
    """

    texts: frozenset[str]
    wanted: Mapping[int, frozenset[str]]
    meanings: frozenset[str]
    programs: Mapping[int, tuple[str, ...]]
    bound: frozenset[str]
    judges: Mapping[int, int]


def plain(source: str) -> str:
    """Return a source as a reader sees it: line ends, trailing blanks and empty ends do not count."""
    return "\n".join(map(str.rstrip, source.strip().split("\n")))


def dense(source: str) -> str:
    """Return a source without its empty lines, as `plain` returns it: an editor may take them."""
    return "\n".join(filter(None, plain(source).split("\n")))


def given(released: ReleasedNotebook) -> Given:
    """Return what a released notebook gives; computed once for every notebook and process."""
    return _given(
        tuple(_Text(cell.kind, cell.cell_type, cell.released, cell.source) for cell in released.layout)
    )


@lru_cache(maxsize=64)
def _given(cells: tuple[_Text, ...]) -> Given:
    code = [(at, cell) for at, cell in enumerate(cells) if cell.is_code]
    python = Python()
    released = {at: python.statements(cell.released) for at, cell in code}
    graded = {at: python.statements(cell.source) for at, cell in code if not cell.is_answer}
    everything = [*released.values(), *graded.values()]
    judges = {}
    for at, cell in enumerate(cells):
        below = (lower for lower in range(at + 1, len(cells)) if cells[lower].kind is Kind.TEST)
        if cell.kind in {Kind.SOLUTION, Kind.MANUAL} and (judge := next(below, None)) is not None:
            judges[at] = judge
    bound = names_bound(statement for statements in graded.values() for statement in statements)
    bound |= frozenset(dir(builtins)) | {"get_ipython", "display", "__name__"}
    return Given(
        texts=frozenset(plain(text) for cell in cells for text in (cell.released, cell.source)),
        wanted=_wanted(cells, released, graded, bound, judges),
        meanings=frozenset(meaning(one) for statements in everything for one in statements),
        programs={at: tuple(map(meaning, released[at])) for at, cell in code if cell.kind.locked},
        bound=bound,
        judges=judges,
    )


def _wanted(
    cells: tuple[_Text, ...],
    released: Mapping[int, tuple[Statement, ...]],
    graded: Mapping[int, tuple[Statement, ...]],
    bound: frozenset[str],
    judges: Mapping[int, int],
) -> dict[int, frozenset[str]]:
    """
    Return what each solution cell is to define.

    Its stub says it by what it defines. A stub of comments is asked by its
    test: for names that nothing else defines, and for words of the comments
    that the test has as strings.
    """
    answers = [at for at in released if cells[at].is_answer]
    wanted = {at: names_bound(released[at]) for at in answers}
    known = bound.union(*wanted.values())
    words = Python().words
    for at in answers:
        if not wanted[at] and at in judges:
            test = graded[judges[at]]
            used = {name for statement in test for name in statement.uses} | (
                _strings(test) & words(cells[at].released)
            )
            wanted[at] = frozenset(used) - known
    return wanted


def _strings(statements: Iterable[Statement]) -> set[str]:
    return {
        node.value
        for statement in statements
        for top in statement.nodes
        for node in ast.walk(top)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
