r"""
The text of a table, taken apart into rows and cells: as RFC 4180 says, or as PHP does.

PHP, and so Moodle, does not double a quote after a backslash: ``a\"b`` becomes
``"a\"b"``, which no other program reads as one cell, and a cell that ends in a
backslash looks as if its quote were not the last. As students can write such
texts, a file that can be read in two ways is refused.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from autograder.errors import CourseError

if TYPE_CHECKING:
    from collections.abc import Iterator

Reading = tuple[list[tuple[str, ...]], list[int]]
"""Rows, and the line where each of them ends."""

_NEWLINE = re.compile(r"\r\n|\n|\r")
_MOST_DOUBTS = 1000
"""Quotes after a backslash that may end a cell; a file with more is no course's."""


def parsed(text: str, delimiter: str, where: str) -> Reading:
    """
    Return the rows of a table.

    Parameters
    ----------
    text : str
        The file.
    delimiter : str
        What separates cells.
    where : str
        What errors call it.

    Returns
    -------
    Reading
        As RFC 4180 has them; as PHP, if that alone gives rows of one length.

    Raises
    ------
    CourseError
        If a quote is never closed, or a backslash lets it be read in two ways.
    """
    try:
        usual: Reading | CourseError = _usual(text, delimiter, where)
    except CourseError as error:
        usual = error
    if '\\"' in text:
        usual = _with_backslashes(text, delimiter, where, usual)
    if isinstance(usual, CourseError):
        raise usual
    return usual


def _usual(text: str, delimiter: str, where: str) -> Reading:
    rows, lines = [], []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                rows.append(tuple(row))
                lines.append(reader.line_num)
    except csv.Error as error:
        line = lines[-1] + 1 if lines else 1
        what = f"from here on it cannot be read as CSV ({error})"
        raise CourseError(f"{where}, line {line}", what, "Export it from the LMS again.") from None
    return rows, lines


def _with_backslashes(
    text: str, delimiter: str, where: str, usual: Reading | CourseError
) -> Reading | CourseError:
    """Return the only way in which a text with quotes after backslashes has rows of one length."""
    remedy = "Take the backslashes away, and name that file."
    first = next(csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=delimiter), [])
    try:
        php = _Php(text, delimiter, len(first)).reading()
    except _TwoWaysError as error:
        line = len(_NEWLINE.findall(text[: error.place])) + 1
        what = 'quotes after a backslash (\\") can be read in two ways'
        return CourseError(f"{where}, near line {line}", what, remedy)
    if isinstance(usual, CourseError):
        return usual if php is None else php
    if len({len(row) for row in usual[0]}) == 1:
        if php is None or php[0] == usual[0]:
            return usual
        pairs = zip(*usual, php[0], strict=False)
        line = next((line for row, line, other in pairs if row != other), usual[1][-1])
        what = 'quotes after a backslash (\\") can be read in two ways'
        return CourseError(f"{where}, line {line}", what, remedy)
    what = 'has rows of different lengths, and quotes after a backslash (\\")'
    return CourseError(where, what, remedy) if php is None else php


class _TwoWaysError(Exception):
    """A text can be read in two ways, which meet again at a place."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class _Php:
    """
    A text as PHP may have written it, with rows of one length.

    Where a quote after a backslash is followed by the end of a cell, both ways are tried.
    """

    def __init__(self, text: str, delimiter: str, width: int) -> None:
        self._text, self._delimiter, self._width = text, delimiter, width
        end = re.escape(delimiter)
        self._end = re.compile(rf"{end}|\r\n|\n|\r|\Z")
        self._no_bare = re.compile(rf'["\r\n{end}]')
        self._doubts = re.compile(rf'\\"(?={end}|\r|\n|\Z)')

    def reading(self) -> Reading | None:
        """Return the only reading; None if there is none."""
        doubts = 0
        for doubts, one in enumerate(self._doubts.finditer(self._text), start=1):
            if doubts > _MOST_DOUBTS:
                raise _TwoWaysError(one.start())
        chain = self._only_way()
        if chain is None:
            return None
        rows: list[tuple[str, ...]] = []
        lines: list[int] = []
        row: list[str] = []
        line, before = 1, 0
        for at, cell in chain:
            row.append(cell)
            if len(row) == self._width:
                line += len(_NEWLINE.findall(self._text, before, at))
                before = at
                rows.append(tuple(row))
                lines.append(line)
                row = []
        return rows, lines

    def _only_way(self) -> list[tuple[int, str]] | None:
        """
        Return the cells with their ends.

        A state is a place where a cell begins and how many cells of its row are before it. It is
        left only when all ways from it are known, so whoever comes to it again need not go on.
        """
        came_from: dict[tuple[int, int], tuple[tuple[int, int], str, int] | None] = {}
        alive: set[tuple[int, int]] = set()
        last = (len(self._text), 0)
        stack: list[tuple[tuple[int, int], tuple[tuple[int, int], str, int] | None]] = [((0, 0), None)]
        while stack:
            state, step = stack.pop()
            if state in alive:
                raise _TwoWaysError(state[0])
            if state in came_from:
                continue
            came_from[state] = step
            if state == last:
                while step is not None:
                    alive.add(state)
                    state, step = step[0], came_from[step[0]]
                alive.add(state)
                continue
            stack += [(after, (state, cell, end)) for after, cell, end in self._steps(*state)]
        if last not in alive:
            return None
        way, step = [], came_from[last]
        while step is not None:
            state, cell, end = step
            if end >= 0:
                way.append((end, cell))
            step = came_from[state]
        return way[::-1]

    def _steps(self, at: int, count: int) -> Iterator[tuple[tuple[int, int], str, int]]:
        """Yield where one can go from a state: the next state, the cell, and its end (-1 of a blank line)."""
        newline = _NEWLINE.match(self._text, at)
        if newline is not None and count == 0:
            yield (newline.end(), 0), "", -1
            return
        for cell, end in self._cells(at):
            found = self._end.match(self._text, end)
            if found is None:
                continue
            if found[0] == self._delimiter:
                if count + 1 < self._width:
                    yield (found.end(), count + 1), cell, end
            elif count + 1 == self._width:
                yield (found.end(), 0), cell, end

    def _cells(self, at: int) -> Iterator[tuple[str, int]]:
        """Yield the ways to read a cell: what is in it, and where it ends."""
        text = self._text
        if not text.startswith('"', at):
            found = self._no_bare.search(text, at)
            end = found.start() if found else len(text)
            yield text[at:end], end
            return
        inner = at + 1
        while (quote := text.find('"', inner)) >= 0:
            escaped = text[quote - 1] == "\\" and quote - 1 > at
            if text.startswith('"', quote + 1) and not escaped:
                inner = quote + 2
                continue
            if self._end.match(text, quote + 1):
                yield text[at + 1 : quote].replace('""', '"'), quote + 1
            if not escaped:
                return
            inner = quote + 1
