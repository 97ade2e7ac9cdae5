"""
Tables of an LMS as text files: read without loss, and written so that no program misreads them.

Cells stay text. A table library would turn ids into numbers, "NA" into nothing
and drop leading zeros, so the standard library's reader is used.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from autograder.errors import CourseError, OperatorError
from autograder.lms.parsing import parsed
from autograder.whole import written_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

MAX_BYTES = 64 * 2**20
"""Bytes of a table that are read; a course of 100,000 students has fewer."""

DELIMITERS = (",", ";", "\t")
_LOOKED_AT = 20
"""Rows that tell which one it is."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula (CWE-1236)."""

_APOSTROPHES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u00b4\u2032\uff07`"), "'")

_ZIP = b"PK\x03\x04"
_OFFICE = (b"[Content_Types]", b"_rels/", b"docProps/", b"xl/", b"mimetype")
"""How the names of first files begin in the zip that a spreadsheet is."""

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    r"""
    A table as it stands in a file.

    Parameters
    ----------
    where : str
        The file.
    rows : tuple of tuple of str
        All rows with all cells, the header included; rows without any character are left out.
    lines : tuple of int
        For each row the line of the file where it ends, the first being 1.
    encoding : str
        Python's name of the encoding, without the mark of byte order.
    bom : bool
        True if the file begins with a mark of byte order.
    delimiter : str
        What separates cells.
    newline : str
        What ends lines: ``\n`` or ``\r\n`` (``\r`` from very old programs).
    """

    where: str
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    encoding: str = "utf-8"
    bom: bool = False
    delimiter: str = ","
    newline: str = "\n"

    @property
    def header(self) -> tuple[str, ...]:
        """The first row."""
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """
        Return which column has one of some headers.

        Parameters
        ----------
        *names : str
            Headers; the first that is there counts. Case, kinds of spaces and of apostrophes, and ways
            of writing an accent do not.

        Returns
        -------
        int or None
            From 0; None if there is none.

        Raises
        ------
        CourseError
            If two columns have that header.
        """
        folded = [_folded(cell) for cell in self.header]
        for name in names:
            found = [at for at, cell in enumerate(folded) if cell == _folded(name)]
            if len(found) > 1:
                what = f"columns {found[0] + 1} and {found[1] + 1} are both called {name!r}"
                raise self.error(0, found[1], what, "Keep the one that counts, and export again.")
            if found:
                return found[0]
        return None

    def cell(self, row: int, column: int | None) -> str:
        """Return a cell, as it stands; empty if the row is too short or there is no such column."""
        cells = self.rows[row]
        return cells[column] if column is not None and column < len(cells) else ""

    def error(self, row: int, column: int | None, what: str, remedy: str) -> CourseError:
        """
        Return an error that names the place in the file.

        Parameters
        ----------
        row : int
            Which row, from 0.
        column : int or None
            Which column, from 0; None for the row as a whole.
        what, remedy : str
            As of `AutograderError`.

        Returns
        -------
        CourseError
            To be raised.
        """
        place = f"{self.where}, line {self.lines[row]}"
        if column is not None:
            title = self.cell(0, column).strip() if row else ""
            place += f", column {column + 1}" + (f" ({title})" if title else "")
        return CourseError(place, what, remedy)


def read_sheet(path: Path, *, delimiter: str | None = None) -> Sheet:
    """
    Read a table that an LMS or a spreadsheet has written.

    Parameters
    ----------
    path : Path
        The file: UTF-8, UTF-16 or UTF-32, else Windows-1252, which old Excel writes.
    delimiter : str, optional
        What separates cells. By default the one of comma, semicolon and tab that gives
        most of the first rows as many cells as the header, and the header most.

    Returns
    -------
    Sheet
        All of it, with at least a header.

    Raises
    ------
    CourseError
        If it is no table: empty, binary, or a quote is never closed.
    OperatorError
        If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise CourseError(path, "does not exist", "Check the name.") from None
    except IsADirectoryError:
        raise CourseError(path, "is a folder", "Name the file in it.") from None
    except OSError as error:
        raise OperatorError(path, f"cannot be read ({error.strerror})", "Check its rights.") from None
    return parse_sheet(data, str(path), delimiter=delimiter)


def parse_sheet(data: bytes, where: str, *, delimiter: str | None = None) -> Sheet:
    """
    Read a table from bytes.

    Parameters
    ----------
    data : bytes
        What is in the file.
    where : str
        What errors call it.
    delimiter : str, optional
        As of `read_sheet`.

    Returns
    -------
    Sheet
        As of `read_sheet`.

    Raises
    ------
    CourseError
        As of `read_sheet`.
    """
    if data.startswith(_ZIP) and not data[30:].startswith(_OFFICE):
        what = "is a zip archive, and a table is needed: a CSV file"
        raise CourseError(
            where, what, "Name the file with the grades or the people, not that of submissions."
        )
    if len(data) > MAX_BYTES:
        what = f"is larger than {MAX_BYTES // 2**20} MiB, so it is no roster and no gradebook"
        raise CourseError(where, what, "Name the right file.")
    if data.startswith((_ZIP, b"\xd0\xcf\x11\xe0")):
        raise CourseError(
            where, "is a spreadsheet of Excel or the like", "Save it as CSV (UTF-8), and name that file."
        )
    text, encoding, bom = _decoded(data, where)
    if "\0" in text:
        raise CourseError(where, "is no text", "Name a CSV file that the LMS has written.")
    delimiter = delimiter or _delimiter(text)
    rows, lines = parsed(text, delimiter, where)
    if not rows:
        raise CourseError(where, "is empty", "Export it from the LMS again.")
    newline = "\r\n" if "\r\n" in text else "\n" if "\n" in text or "\r" not in text else "\r"
    return Sheet(
        where=where,
        rows=tuple(rows),
        lines=tuple(lines),
        encoding=encoding,
        bom=bom,
        delimiter=delimiter,
        newline=newline,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    r"""
    How a table is written as text.

    Parameters
    ----------
    delimiter : str
        What separates cells.
    newline : str
        What ends rows: ``\n`` or ``\r\n``.
    quote_all : bool
        True to quote every cell, False those that need it.
    encoding : str
        Python's name of the encoding; not one that writes a mark of its own.
    bom : bool
        True to begin with a mark of byte order.
    """

    delimiter: str = ","
    newline: str = "\n"
    quote_all: bool = False
    encoding: str = "utf-8"
    bom: bool = False


PLAIN = Dialect()
"""Comma, UTF-8 without a mark, quotes where they are needed."""


def sheet_bytes(rows: Iterable[Sequence[str]], dialect: Dialect = PLAIN) -> bytes:
    """
    Return a table as the bytes of a file.

    Parameters
    ----------
    rows : iterable of sequence of str
        The header and all rows, cells as they are to be read back.
    dialect : Dialect
        How it is written.

    Returns
    -------
    bytes
        Quotes are doubled and never escaped.
    """
    quoting: Literal[0, 1] = csv.QUOTE_ALL if dialect.quote_all else csv.QUOTE_MINIMAL
    lines = []
    for row in rows:
        # The writer quotes a lone carriage return only if lines end in one.
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=dialect.delimiter, lineterminator="\r\n", quoting=quoting).writerow(row)
        lines.append(stream.getvalue().removesuffix("\r\n") + dialect.newline)
    # Half a character, as of a folder whose name is no UTF-8, is in nobody's id.
    return (("\ufeff" if dialect.bom else "") + "".join(lines)).encode(dialect.encoding, "replace")


def harmless(text: str) -> str:
    """
    Return free text that no spreadsheet takes for a formula: one that could gets a leading apostrophe.

    Parameters
    ----------
    text : str
        A comment, or a name that we made up. Never a cell by which an LMS knows
        a person or an item: an apostrophe would change who is meant.

    Returns
    -------
    str
        The text, or an apostrophe and the text.
    """
    return f"'{text}" if text.lstrip().startswith(FORMULA) or text.startswith(FORMULA) else text


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """
    Write a file whole or not at all; a reader never sees half of it.

    Parameters
    ----------
    path : Path
        The file; its folder is made. What was there before is replaced at once.
    data : bytes
        All of it.
    private : bool
        True if only its owner may read it.

    Raises
    ------
    OperatorError
        If it cannot be written; what was there before is still there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path, private=private) as file:
            file.write(data)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise OperatorError(path, what, "Check rights and space.") from None


def _folded(header: str) -> str:
    """Return a header as far as it counts: programs of one LMS write its apostrophes in two ways."""
    plain = unicodedata.normalize("NFC", header).casefold().translate(_APOSTROPHES)
    return " ".join(plain.split())


def _decoded(data: bytes, where: str) -> tuple[str, str, bool]:
    """Return the text, its encoding, and whether a mark of byte order was there."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), encoding, True
            except UnicodeDecodeError as error:
                line = data[: len(mark) + error.start].count(b"\n") + 1
                what = f"is not {encoding.upper()}, which it says it is (line {line})"
                raise CourseError(where, what, "Export it from the LMS again.") from None
    if data[1:2] == b"\0" and data[3:4] == b"\0":
        return data.decode("utf-16-le", "replace"), "utf-16-le", False
    try:
        return data.decode("utf-8"), "utf-8", False
    except UnicodeDecodeError as error:
        try:
            return data.decode("cp1252"), "cp1252", False
        except UnicodeDecodeError:
            line = data[: error.start].count(b"\n") + 1
            what = f"is neither UTF-8 nor Windows-1252 (line {line})"
            raise CourseError(where, what, "Save it as CSV (UTF-8), and name that file.") from None


def _delimiter(text: str) -> str:
    """Return what separates cells: that by which most of the first rows are as wide as the header."""
    found = {}
    for delimiter in DELIMITERS:
        widths = []
        try:
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
                widths += [len(row)] if row and (len(row) > 1 or row[0].strip()) else []
                if len(widths) == _LOOKED_AT:
                    break
        except csv.Error:
            pass
        header = widths[0] if widths else 0
        # A title may hold more commas than a file with semicolons has columns.
        found[delimiter] = (header > 1, widths.count(header) if header > 1 else 0, header)
    return max(DELIMITERS, key=lambda one: found[one])
