"""What Ruby's CSV makes of a text, re-implemented: it refuses what Python's reader lets pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = list[str | None]


class MalformedError(Exception):
    """Ruby would raise `CSV::MalformedCSVError`."""


def ruby_rows(text: str, separator: str = ",", *, skip: str | None = None) -> list[Row]:
    """
    Return the rows of a text as ``CSV.parse(text, col_sep: separator, skip_lines: skip)`` does.

    An empty cell is None, one that is only quotes is an empty string. Lines end
    in whatever the first line end of the text is.
    """
    found = re.search(r"\r\n|\n|\r", text)
    newline = found[0] if found else "\n"
    rows: list[Row] = []
    at = 0
    while at < len(text):
        end = text.find(newline, at)
        line = text[at:] if end < 0 else text[at:end]
        if skip is not None and re.search(skip, line):
            at += len(line) + len(newline)
        elif not line:
            rows.append([])
            at += len(newline)
        else:
            row, at = _row(text, at, separator, newline)
            rows.append(row)
    return rows


def _row(text: str, at: int, separator: str, newline: str) -> tuple[Row, int]:
    row: Row = []
    while True:
        cell, at = _quoted(text, at + 1) if text[at : at + 1] == '"' else _plain(text, at, separator, newline)
        row.append(cell)
        if text.startswith(separator, at):
            at += len(separator)
        elif at >= len(text) or text.startswith(newline, at):
            return row, at + len(newline)
        else:
            raise MalformedError("any value after quoted field")


def _quoted(text: str, at: int) -> tuple[str, int]:
    cell = ""
    while True:
        end = text.find('"', at)
        if end < 0:
            raise MalformedError("unclosed quoted field")
        cell += text[at:end]
        if text[end + 1 : end + 2] != '"':
            return cell, end + 1
        cell += '"'
        at = end + 2


def _plain(text: str, at: int, separator: str, newline: str) -> tuple[str | None, int]:
    ends = [end for end in (text.find(separator, at), text.find(newline, at)) if end >= 0]
    end = min(ends, default=len(text))
    cell = text[at:end]
    if '"' in cell:
        raise MalformedError("illegal quoting")
    if "\n" in cell or "\r" in cell:
        raise MalformedError("unquoted fields do not allow new lines")
    return cell or None, end


def integer_prefix(text: str) -> int:
    """Return what Ruby's ``to_i`` makes of a text: the integer that it begins with, else 0."""
    found = re.match(r"[ \t\n\v\f\r]*([+-]?[0-9]+(?:_[0-9]+)*)", text)
    return int(found[1].replace("_", "")) if found else 0


def ruby_line(cells: Sequence[str], separator: str = ",") -> str:
    """Return a row as ``CSV.generate_line`` writes it, nothing being nil."""
    quoted = re.compile(rf'[\r\n"{re.escape(separator)}]')
    texts = ('"' + cell.replace('"', '""') + '"' if quoted.search(cell) else cell for cell in cells)
    return separator.join(texts) + "\n"
