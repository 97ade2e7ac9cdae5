"""What the text of a cell defines, as far as it is Python; student code is parsed here and never run."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from autograder.statements import Statement, cut, names_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CELL, MAX_TOTAL = 50_000, 600_000
"""Characters of a cell, and of all cells of a notebook, that are parsed."""

MAX_WORDS = 3_000_000
"""Characters of a notebook that are searched for names."""

UNFINISHED = re.compile(r"^[ \t]*raise NotImplementedError\b", re.MULTILINE)
"""Stands in what nbgrader leaves of a solution."""

# What is wrong with a text, or with taking it apart, is of no matter: it is no Python then.
_PROBLEMS = (SyntaxError, ValueError, RecursionError, MemoryError, IndexError)
_MAGIC = re.compile(r"^([ \t]*)(?:[%!].*|[\w.]+\?\??|\?\??[\w.]+)$", re.MULTILINE)
_GOES_ON = re.compile(r"(?:else|elif|except|finally|case)\b|[)\]}]|\s")
_WORD = re.compile(r"[^\W\d]\w*")


class Python:
    """
    Parses the cells of one notebook, each once, and not more of them than real ones have.

    Cost is bounded whatever a student hands in: beyond the bounds nothing is Python.
    """

    def __init__(self) -> None:
        self._left, self._left_words = MAX_TOTAL, MAX_WORDS
        self._whole: dict[str, tuple[Statement, ...] | None] = {}
        self._parts: dict[str, tuple[Statement, ...]] = {}
        self._binds: dict[str, frozenset[str]] = {}
        self._words: dict[str, frozenset[str]] = {}

    @property
    def is_spent(self) -> bool:
        """True if nothing more is parsed."""
        return self._left <= 0

    def parses(self, source: str) -> bool:
        """Tell whether a cell is Python as it stands, IPython's own lines included."""
        return self._cut(source) is not None

    def statements(self, source: str) -> tuple[Statement, ...]:
        """
        Return the top-level statements of a cell.

        Parameters
        ----------
        source : str
            A cell.

        Returns
        -------
        tuple of Statement
            In order. Of a cell that is not Python as a whole, those of its
            parts that are: code between prose, or beside a broken function.
        """
        whole = self._cut(source)
        if whole is not None:
            return whole
        if source not in self._parts:
            found = (self._cut(part) for part in _parts(source)) if len(source) <= MAX_CELL else ()
            self._parts[source] = tuple(statement for part in found for statement in part or ())
        return self._parts[source]

    def binds(self, source: str) -> frozenset[str]:
        """Return the names that a cell defines."""
        if source not in self._binds:
            self._binds[source] = names_bound(self.statements(source))
        return self._binds[source]

    def words(self, source: str) -> frozenset[str]:
        """Return the names in a cell, whatever they stand for."""
        if source not in self._words:
            self._left_words -= len(source)
            found = _WORD.findall(source) if self._left_words >= 0 else ()
            self._words[source] = frozenset(found)
        return self._words[source]

    def _cut(self, source: str) -> tuple[Statement, ...] | None:
        if source not in self._whole:
            self._left -= len(source)
            within = len(source) <= MAX_CELL and self._left >= 0
            self._whole[source] = _cut(source) if within else None
        return self._whole[source]


def meaning(statement: Statement) -> str:
    """Return the same text for statements that differ in layout and comments only."""
    try:
        return "\n".join(ast.dump(node) for node in statement.nodes)
    except RecursionError:
        return statement.text


def _cut(source: str) -> tuple[Statement, ...] | None:
    with warnings.catch_warnings():
        # A student's odd escape is no warning to whoever grades.
        warnings.simplefilter("ignore")
        for text in dict.fromkeys((source, _MAGIC.sub(r"\1pass", source))):
            try:
                statements = tuple(cut(text))
            except _PROBLEMS:
                continue
            return None if _is_torn(statements) else statements
    return None


def _is_torn(statements: tuple[Statement, ...]) -> bool:
    """Tell whether statements belong inside a function or a loop; Python itself tells that later."""
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for one in statements for node in one.nodes]
    while waiting:
        node, in_loop = waiting.pop()
        if isinstance(node, ast.Return) or (isinstance(node, ast.Break | ast.Continue) and not in_loop):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            inside = in_loop or isinstance(node, ast.For | ast.AsyncFor | ast.While)
            waiting += [(child, inside) for child in ast.iter_child_nodes(node)]
    return False


def _parts(source: str) -> Iterator[str]:
    """Yield the parts of a text that begin at its left margin; a decorator goes with what follows."""
    part: list[str] = []
    for line in source.split("\n"):
        begins = line.strip() and not _GOES_ON.match(line)
        if begins and part and not part[-1].startswith("@"):
            yield "\n".join(part)
            part = []
        part.append(line)
    yield "\n".join(part)
