"""
Blackboard: the file of "Upload" in the gradebook.

A header without the column's number would make a new column of text that is worth
nothing, so headers are copied from the instructor's download, or the number is asked for.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports.columns import Item, decimal_mark, number_in, wanted
from autograder.lms.exports.filling import Layout, fill, max_points_of, told
from autograder.lms.exports.listing import list_rows, unknown_ids
from autograder.lms.exports.matching import Who
from autograder.lms.exports.model import WHOLE, Export, File
from autograder.lms.model import IdKind, Lms, points_text
from autograder.lms.sheets import Dialect, sheet_bytes
from autograder.lms.texts import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.lms.exports.model import Request
    from autograder.lms.sheets import Sheet

OPTIONS = {
    "file": "xls, which is text with tabs in UTF-16, or csv; by default as the file of --like is, else xls",
    "column_id": "without --like, the number behind | in the header of the column",
    "decimal": "the decimal mark, . or ,; by default the one of the file of --like",
}

KEY = "Username"
PEOPLE = ("Last Name", "First Name", KEY, "Student ID")
FEEDBACK, FEEDBACK_FORMAT = "Feedback to Learner", "Feedback Format"
BESIDE = ("Grading Notes", "Notes Format", FEEDBACK, FEEDBACK_FORMAT)
"""What a download of one column has beside it."""

FOREIGN = "?"
"""How a column is shown whose header is in a language that is not known here."""

TOTALS = frozenset({"Total", "Weighted Total"})
"""Columns that Blackboard calculates, and ignores in an upload."""

_HEADER = re.compile(
    r"(?P<title>.*\S)\s*\[(?P<label>[^\[\]:]+):\s*(?:[^\W\d]+\s+)*(?P<points>[0-9.,]+)\s*(?P<type>[^\]]*)\]"
    r"\s*\|\s*(?P<key>[0-9]+)",
    re.DOTALL,
)
_NEEDED = (
    "In Blackboard, download the gradebook or this column (Grade Center: Work Offline), "
    "and name the file with --like"
)
_DIALECTS = {
    "xls": Dialect(delimiter="\t", newline="\r\n", quote_all=True, encoding="utf-16-le", bom=True),
    "csv": Dialect(newline="\r\n", quote_all=True),
}


def export(request: Request) -> Export:
    """
    Make the file to upload into the gradebook.

    Parameters
    ----------
    request : Request
        With the instructor's own download as `like`, or the number of the column.

    Returns
    -------
    Export
        One file, and what Blackboard will do with it.

    Raises
    ------
    CourseError
        If the download cannot be used, or a column cannot be told.
    """
    rows = _Filled(request, request.like) if request.like is not None else _Made(request)
    kind = request.options.get("file") or (
        "csv" if request.like and request.like.delimiter != "\t" else "xls"
    )
    if kind not in _DIALECTS:
        raise CourseError(
            "--set file", f"{kind!r} is no kind of file that Blackboard takes", "Write xls or csv."
        )
    name = f"{request.assignment}-blackboard.{kind}"
    return Export(
        files=(File(name=name, data=sheet_bytes(rows.table, _DIALECTS[kind])),),
        changes=rows.changes,
        notes=(*rows.notes, *_clicks(kind)),
        is_empty=len(rows.table) == 1,
    )


def parse_header(header: str, column: int = 0) -> tuple[Item, str] | None:
    """
    Return what a header says of its column.

    Parameters
    ----------
    header : str
        For example ``HW 1 [Total Pts: 10 Score] |403340``.
    column : int
        Where it stands, from 0.

    Returns
    -------
    (Item, str) or None
        The item, and how Blackboard shows it: "Score", "Text" and others, or nothing in
        old headers; `FOREIGN` in other languages than English. None if it is no column of grades.
    """
    found = _HEADER.fullmatch(header.strip())
    if found is None:
        return None
    points = number_in(found["points"])
    item = Item(column=column, header=header, title=found["title"], key=found["key"], max_points=points)
    return item, found["type"].strip() if found["label"].strip() == "Total Pts" else FOREIGN


class _Filled:
    """Rows and columns of the instructor's download."""

    def __init__(self, request: Request, sheet: Sheet) -> None:
        self.request, self.sheet = request, sheet
        key = sheet.column(KEY)
        if key is None:
            raise sheet.error(0, None, f"there is no column {KEY}", f"{_NEEDED}.")
        self.foreign = False
        self.people = [at for name in PEOPLE for at in [sheet.column(name)] if at is not None]
        self.filled = fill(request, sheet, self._layout(key))
        self.changes = self.filled.changes
        self.beside = self._columns_beside()
        self.answers = 0
        header = [*self._cells(0), *(item.header for item in self.filled.items.values()), *self._beside(0)]
        self.table = [header, *(self._row(row, cells) for row, cells in self.filled.cells.items())]
        self.notes = (
            *told(self.filled, Lms.BLACKBOARD, request.grades),
            self.filled.mark.note(Lms.BLACKBOARD),
            *self._on_language(),
            *self._on_comments(),
        )

    def _layout(self, key: int) -> Layout:
        sheet = self.sheet
        ids = {IdKind.LOGIN: key}
        number = sheet.column("Student ID")
        if number is not None:
            ids[IdKind.SIS] = number
        who = Who(
            lms=Lms.BLACKBOARD,
            ids=ids,
            first_name=sheet.column("First Name"),
            last_name=sheet.column("Last Name"),
        )
        why = f"the row has no {KEY}, and one such row fails the whole upload"
        unusable = {row: why for row in range(1, len(sheet.rows)) if not sheet.cell(row, key).strip()}
        return Layout(who=who, items=self._items(), unusable=unusable, keys=(key,))

    def _items(self) -> list[Item]:
        """Return the columns that take a score; one that is shown otherwise is refused if it is asked for."""
        items = []
        asked = set(wanted(self.request).values())
        for column, header in enumerate(self.sheet.header):
            parsed = parse_header(header, column)
            if parsed is None or parsed[0].title in TOTALS:
                continue
            item, shown = parsed
            if shown in {"", "Score", FOREIGN}:
                items.append(item)
                self.foreign |= shown == FOREIGN
            elif asked & item.names:
                what = f"Blackboard shows this column as {shown}, so a score would be read as that"
                raise self.sheet.error(0, column, what, "Show it as Score there, and download again.")
        return items

    def _columns_beside(self) -> dict[str, int]:
        """Return the columns of feedback, if they are those of the one column that is sent."""
        found = {
            name: [at for at, cell in enumerate(self.sheet.header) if cell.strip() == name] for name in BESIDE
        }
        one = len(self.filled.items) == 1 and all(len(places) <= 1 for places in found.values())
        return {name: places[0] for name, places in found.items() if places} if one else {}

    def _cells(self, row: int) -> list[str]:
        return [self.sheet.cell(row, column) for column in self.people]

    def _beside(self, row: int) -> list[str]:
        """Return the cells beside the score: as they are, but for a comment that is sent."""
        cells = {name: self.sheet.cell(row, column) for name, column in self.beside.items()}
        comment = self.filled.matches.grades[row].comment if row and self.request.comments else ""
        if comment.strip() and FEEDBACK in cells and FEEDBACK_FORMAT in cells:
            self.answers += bool(cells[FEEDBACK].strip())
            cells |= {FEEDBACK: feedback_html(comment), FEEDBACK_FORMAT: "HTML"}
        return list(cells.values())

    def _row(self, row: int, cells: Mapping[str, str]) -> list[str]:
        return [*self._cells(row), *cells.values(), *self._beside(row)]

    def _on_language(self) -> Iterator[str]:
        if self.foreign:
            yield (
                "The headers are not in English, so nobody here can tell how a column is shown: it must be "
                "shown as a score, or Blackboard reads the number as something else."
            )

    def _on_comments(self) -> Iterator[str]:
        if self.request.comments and not {FEEDBACK, FEEDBACK_FORMAT} <= self.beside.keys():
            yield (
                f"No comments are sent: only a download of one column has the column {FEEDBACK!r}. "
                "Download that column alone, with comments included."
            )
        if self.answers:
            yield f"Feedback that the file has already is replaced for {self.answers} students."


class _Made:
    """Rows of what the course knows, below headers that the instructor gave."""

    def __init__(self, request: Request) -> None:
        headers = {key: _header(request, key, name) for key, name in wanted(request).items()}
        rows, changes, guessed = list_rows(request, Lms.BLACKBOARD, (IdKind.LOGIN,), headers)
        mark = decimal_mark(None, asked=request.options.get("decimal", ""))
        self.table: Sequence[Sequence[str]] = [
            [KEY, *headers.values()],
            *([row.ids[IdKind.LOGIN], *(score.text(mark.sign) for score in row.scores)] for row in rows),
        ]
        self.changes = tuple(changes)
        comments = "No comments are sent: that needs the download of one column, with --like."
        self.notes = (
            *unknown_ids(guessed, Lms.BLACKBOARD, "user name"),
            mark.note(Lms.BLACKBOARD),
            *([comments] if request.comments else []),
            *([] if rows else ["No score is sent: the file has no row, so there is nothing to upload."]),
        )


def feedback_html(comment: str) -> str:
    """
    Return a comment as the HTML that the column of feedback holds.

    Parameters
    ----------
    comment : str
        Plain text.

    Returns
    -------
    str
        One paragraph; it begins with a tag, so no spreadsheet takes it for a formula.
    """
    lines = html.escape(storable(comment).strip()).splitlines()
    return f"<p>{'<br />'.join(lines)}</p>"


def _header(request: Request, key: str, name: str) -> str:
    """Return a header without a download: whole as the instructor gave it, or made of its number."""
    parsed = parse_header(name)
    if parsed is not None:
        return name
    number = request.options.get("column_id", "").strip() if key == WHOLE else ""
    if not number:
        what = f"Blackboard would make a new column of text for {name!r}, worth nothing"
        raise CourseError("export blackboard", what, f"{_NEEDED}; or give the number with --set column_id=.")
    if not re.fullmatch("[0-9]+", number):
        raise CourseError("--set column_id", f"{number!r} is no number", "It stands behind | in the header.")
    points = max_points_of(request.grades, key)
    return f"{name} [Total Pts: {points_text(points) if points is not None else 0} Score] |{number}"


def _clicks(kind: str) -> Iterator[str]:
    delimiter = "Tab" if kind == "xls" else "Comma"
    yield (
        f"In Blackboard: Gradebook, Upload (Grade Center: Work Offline, Upload), delimiter {delimiter} or "
        "Auto. The preview shows each column: go on only if none of them is new."
    )
    yield "Students whom the file does not name keep what they have."
