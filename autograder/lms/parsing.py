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

# Moodle's worksheet holds what students have typed: a long text is no damage. Files have their own limit.
csv.field_size_limit(2**27)

if TYPE_CHECKING:
    from collections.abc import Iterator

Reading = tuple[list[tuple[str, ...]], list[int]]
"""Rows, and the line where each of them ends."""

_Chain = tuple[()] | tuple["_Chain", int, str]
"""Cells with their ends, the last one outermost."""
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
    php = _Php(text, delimiter)
    if php.too_many is not None:
        line = len(_NEWLINE.findall(text[: php.too_many])) + 1
        what = f'has more than {_MOST_DOUBTS} quotes after a backslash (\\") that may end a cell'
        return CourseError(f"{where}, line {line}", what, remedy)
    other = php.reading()
    if isinstance(usual, CourseError):
        return usual if other is None else other
    if len({len(row) for row in usual[0]}) == 1:
        if other is None or other[0] == usual[0]:
            return usual
        pairs = zip(*usual, other[0], strict=False)
        line = next((line for row, line, its in pairs if row != its), usual[1][-1])
        what = 'quotes after a backslash (\\") can be read in two ways'
        return CourseError(f"{where}, line {line}", what, remedy)
    what = 'has rows of different lengths, and quotes after a backslash (\\")'
    return CourseError(where, what, remedy) if other is None else other


class _Php:
    """
    A text as PHP may have written it, with rows of one length.

    Where a quote after a backslash is followed by the end of a cell, both ways are tried. No
    more than one leads to the end: what is a cell in one way would be bare with a quote in the
    other, and PHP writes no such cell.
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self._text, self._delimiter = text, delimiter
        end = re.escape(delimiter)
        self._end = re.compile(rf"{end}|\r\n|\n|\r|\Z")
        self._no_bare = re.compile(rf'["\r\n{end}]')
        doubts = re.finditer(rf'\\"(?={end}|\r|\n|\Z)', text)
        self.too_many = next(
            (one.start() for number, one in enumerate(doubts) if number >= _MOST_DOUBTS), None
        )
        """Where there are more doubts than are looked into."""
        header = re.match(r"[\r\n]*([^\r\n]*)", text)
        try:
            self._width = len(next(csv.reader([header[1] if header else ""], delimiter=delimiter), []))
        except csv.Error:
            self._width = 0

    def reading(self) -> Reading | None:
        """Return the only reading; None if there is none."""
        rows: list[tuple[str, ...]] = []
        lines: list[int] = []
        row: list[str] = []
        line, before = 1, 0
        for at, cell in self._way():
            row.append(cell)
            if len(row) == self._width:
                line += len(_NEWLINE.findall(self._text, before, at))
                before = at
                rows.append(tuple(row))
                lines.append(line)
                row = []
        return (rows, lines) if rows else None

    def _way(self) -> list[tuple[int, str]]:
        """Return the cells with their ends, from the first; none if the text cannot be read."""
        seen: set[tuple[int, int]] = set()
        stack: list[tuple[tuple[int, int], _Chain]] = [((0, 0), ())]
        while stack:
            state, chain = stack.pop()
            if state == (len(self._text), 0):
                way = []
                while chain:
                    chain, end, cell = chain
                    way.append((end, cell))
                return way[::-1]
            if state not in seen:
                seen.add(state)
                stack += self._steps(*state, chain)
        return []

    def _steps(self, at: int, count: int, chain: _Chain) -> Iterator[tuple[tuple[int, int], _Chain]]:
        """
        Yield where one can go from a state, and the cells up to there.

        A state is the place where a cell begins, and how many cells of its row are before it.
        """
        newline = _NEWLINE.match(self._text, at)
        if newline is not None and count == 0:
            yield (newline.end(), 0), chain
            return
        for cell, end in self._cells(at):
            found = self._end.match(self._text, end)
            if found is None:
                continue
            is_last = found[0] != self._delimiter
            if is_last == (count + 1 == self._width):
                yield (found.end(), 0 if is_last else count + 1), (chain, end, cell)

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
