r"""
What PHP makes of texts, re-implemented: CSV with a backslash that escapes, numbers, English dates.

A quote after a backslash neither ends a cell nor is doubled, so that a cell
that ends in a backslash swallows what follows.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BLANK = " \t\n\v\f\r"


def php_rows(text: str, separator: str = ",") -> list[list[str | None]]:
    """
    Return the rows of a text as ``fgetcsv`` reads them from a file.

    Lines end in newlines: Moodle makes these of all others first. A blank line is ``[None]``.
    """
    rows = []
    at = 0
    while at < len(text):
        row, at = _row(text, at, separator)
        rows.append(row)
    return rows


def _row(text: str, at: int, separator: str) -> tuple[list[str | None], int]:
    line_end = _line_end(text, at)
    if not text[at:line_end].rstrip("\n"):
        return [None], line_end
    row: list[str | None] = []
    while True:
        start = at
        while at < line_end and text[at] in BLANK and text[at] != separator:
            at += 1
        if text[at : at + 1] == '"' and at < line_end:
            cell, at, line_end = _quoted(text, at + 1, line_end)
        else:
            cell, at = "", start
        end = text.find(separator, at, line_end)
        rest = text[at : line_end if end < 0 else end]
        row.append(cell + (rest.rstrip("\n") if end < 0 else rest))
        if end < 0:
            return row, line_end
        at = end + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _quoted(text: str, at: int, line_end: int) -> tuple[str, int, int]:
    """Return what stands in quotes, and where they and the line end."""
    cell = ""
    while at < len(text):
        char = text[at]
        if char == "\\":
            cell += text[at : at + 2]
            at += 2
        elif char != '"':
            cell += char
            at += 1
        elif text[at + 1 : at + 2] == '"':
            cell += '"'
            at += 2
        else:
            return cell, at + 1, max(line_end, _line_end(text, at))
    return cell, len(text), len(text)


def php_line(cells: Sequence[str], separator: str = ",") -> str:
    """Return a row as ``fputcsv`` writes it: a quote after a backslash is not doubled."""
    texts = []
    for cell in cells:
        if not re.search(rf'[{re.escape(separator)}"\\\n\r\t ]', cell):
            texts.append(cell)
            continue
        quoted, escaped = "", False
        for char in cell:
            if char == "\\":
                escaped = True
            elif not escaped and char == '"':
                quoted += '"'
            else:
                escaped = False
            quoted += char
        texts.append(f'"{quoted}"')
    return separator.join(texts) + "\n"


def php_float(text: str) -> float:
    """Return what ``(float)`` makes of a text: the number that it begins with, else 0."""
    found = re.match(rf"[{BLANK}]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", text)
    return float(found[1]) if found else 0.0


def php_is_numeric(text: str) -> bool:
    """Return what ``is_numeric`` says."""
    number = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return re.fullmatch(rf"[{BLANK}]*{number}[{BLANK}]*", text) is not None


def php_strtotime(text: str) -> int | None:
    """
    Return the Unix time of a date as Moodle writes it in English, taken as UTC.

    None for a dash, for nothing, and for the German and French dates of tests. Others are not known here.
    """
    found = re.fullmatch(r"\w+day, (?P<date>\d{1,2} [A-Z][a-z]+ \d{4}, \d{1,2}:\d{2} [AP]M)", text, re.ASCII)
    if found is None:
        return None
    return int(datetime.strptime(found["date"], "%d %B %Y, %I:%M %p").replace(tzinfo=UTC).timestamp())
