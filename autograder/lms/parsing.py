r"""
The text of a table, taken apart into rows and cells: as RFC 4180 says, or as PHP does.

PHP, and so Moodle, does not double a quote after a backslash: ``a\"b`` becomes
``"a\"b"``, which no other program reads as one cell, and a cell that ends in a
backslash looks as if its quote were not the last.
"""

from __future__ import annotations

import csv
import io
import re

from autograder.errors import CourseError

Reading = tuple[list[tuple[str, ...]], list[int]]
"""Rows, and the line where each of them ends."""

_NEWLINE = re.compile(r"\r\n|\n|\r")


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
    error: CourseError | None = None
    try:
        usual = _usual(text, delimiter, where)
    except CourseError as one:
        usual, error = ([], []), one
    if '\\"' in text:
        known = [usual] if error is None and _rectangular(usual) else []
        for other in _of_php(text, delimiter):
            known += [other] if all(other[0] != one[0] for one in known) else []
        if len(known) > 1:
            what = 'has quotes after a backslash (\\") that can be read in two ways'
            raise CourseError(f"{where}, line {_differ(*known[:2])}", what, "Take the backslash away.")
        if known:
            return known[0]
    if error is not None:
        raise error
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


def _of_php(text: str, delimiter: str) -> list[Reading]:
    """Return the ways of PHP: a quote after a backslash at the end of a cell closes it, or does not."""
    end = rf"(?:{re.escape(delimiter)}|\r\n|\n|\r|\Z)"
    patterns = [
        rf'"(?P<quoted>(?:[^"\\]++|\\"{inner}|\\|"")*+)"(?={end})|(?P<bare>[^"\r\n{re.escape(delimiter)}]*+)(?={end})'
        for inner in (rf"(?!{end})", "")
    ]
    found = [_read(text, delimiter, re.compile(pattern)) for pattern in patterns]
    return [reading for reading in found if reading is not None and _rectangular(reading)]


def _rectangular(reading: Reading) -> bool:
    return len({len(row) for row in reading[0]}) == 1


def _differ(one: Reading, other: Reading) -> int:
    """Return the line of the first row in which two readings differ."""
    pairs = zip(*one, *other, strict=False)
    return next((line for row, line, its_row, _ in pairs if row != its_row), one[1][-1])


def _read(text: str, delimiter: str, pattern: re.Pattern[str]) -> Reading | None:
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    row: list[str] = []
    at, line = 0, 1
    while True:
        cell = pattern.match(text, at)
        if cell is None:
            return None
        line += len(_NEWLINE.findall(cell[0]))
        row.append(cell["bare"] if cell["quoted"] is None else cell["quoted"].replace('""', '"'))
        at = cell.end()
        if text.startswith(delimiter, at):
            at += len(delimiter)
            continue
        if row != [""]:
            rows.append(tuple(row))
            lines.append(line)
        row = []
        newline = _NEWLINE.match(text, at)
        if newline is None:
            return rows, lines
        at, line = newline.end(), line + 1
        if at == len(text):
            return rows, lines
