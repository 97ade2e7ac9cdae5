"""
Sakai: the file of the gradebook's "Import Grades".

Columns 1 and 2 count by position, the others by header. A blank never changes anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports.columns import Item, decimal_mark, number_in, wanted
from autograder.lms.exports.filling import Layout, fill, max_points_of, told
from autograder.lms.exports.listing import list_rows, unknown_ids
from autograder.lms.exports.matching import Who
from autograder.lms.exports.model import WHOLE, Export, File
from autograder.lms.model import IdKind, Lms, points_text
from autograder.lms.sheets import Dialect, harmless, sheet_bytes
from autograder.lms.texts import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from autograder.lms.exports.model import Request
    from autograder.lms.model import Grade
    from autograder.lms.sheets import Sheet

OPTIONS = {
    "decimal": "the decimal mark of your language in Sakai, . or ,; by default the one of the file of --like"
}

PEOPLE = ("Student ID", "Name")
COMMENT = "*"
IGNORED = "#"

_HEADER = re.compile(r"(?P<title>[^\[\]]*[^\[\]\s])(?:\s*\[(?P<points>[0-9]+(?:[.,][0-9]{1,2})?)\])?")


def export(request: Request) -> Export:
    """
    Make the file for "Import Grades".

    Parameters
    ----------
    request : Request
        With the instructor's own export as `like`; without it, students are named by what
        the course knows, and the item gets the assignment's title and points.

    Returns
    -------
    Export
        One CSV file, and what Sakai will do with it.

    Raises
    ------
    CourseError
        If the instructor's file cannot be used, or Sakai would misread a title.
    """
    made = _Made(request) if request.like is None else _Filled(request, request.like)
    dialect = Dialect(delimiter=";" if made.mark == "," else ",", newline="\r\n", quote_all=True, bom=True)
    return Export(
        files=(File(name=f"{request.assignment}-sakai.csv", data=sheet_bytes(made.table, dialect)),),
        changes=made.changes,
        notes=(*made.notes, *_clicks(made.mark)),
        is_empty=len(made.table) == 1,
    )


def parse_header(header: str, column: int = 2) -> Item | None:
    """
    Return the item of a header.

    Parameters
    ----------
    header : str
        For example ``HW 1 [10]``.
    column : int
        Where it stands, from 0.

    Returns
    -------
    Item or None
        None if it holds comments, is ignored, or is none that Sakai takes.
    """
    found = _HEADER.fullmatch(header.strip())
    if found is None or header.strip().startswith((COMMENT, IGNORED)):
        return None
    points = number_in(found["points"]) if found["points"] else None
    return Item(column=column, header=header, title=found["title"].strip(), max_points=points)


class _Filled:
    """Rows of the instructor's file."""

    def __init__(self, request: Request, sheet: Sheet) -> None:
        if len(sheet.header) <= len(PEOPLE):
            what = "there are no columns of grades beside the student's id and name"
            raise sheet.error(
                0, None, what, "Export the gradebook from Sakai with its items, and name that file."
            )
        self.request, self.sheet = request, sheet
        items = [parse_header(header, at) for at, header in enumerate(sheet.header) if at >= len(PEOPLE)]
        self.filled = fill(request, sheet, self._layout([item for item in items if item]))
        self.mark, self.changes = self.filled.mark.sign, self.filled.changes
        whole = self.filled.items.get(WHOLE)
        self.comments = whole if request.comments else None
        self.before = self._column_of_comments(whole.title) if whole else None
        self.replaced = 0
        header = [*sheet.header[: len(PEOPLE)], *(item.header for item in self.filled.items.values())]
        self.table = [header + self._comment_header(), *(self._row(row) for row in self.filled.cells)]
        self.notes = (*told(self.filled, Lms.SAKAI, request.grades), *self._on_comments())

    def _layout(self, items: Sequence[Item]) -> Layout:
        who = Who(lms=Lms.SAKAI, ids={IdKind.LOGIN: 0}, name=1)
        rows = range(1, len(self.sheet.rows))
        nobody = {row: "the row has no id" for row in rows if not self.sheet.cell(row, 0).strip()}
        return Layout(who=who, items=items, unusable=nobody, keys=(0,))

    def _column_of_comments(self, title: str) -> int | None:
        headers = [cell.strip() for cell in self.sheet.header]
        name = f"{COMMENT} {title}"
        return headers.index(name) if name in headers else None

    def _comment_header(self) -> list[str]:
        return [f"{COMMENT} {self.comments.title}"] if self.comments else []

    def _row(self, row: int) -> list[str]:
        cells = [self.sheet.cell(row, 0), self.sheet.cell(row, 1), *self.filled.cells[row].values()]
        if self.comments:
            comment = comment_cell(self.filled.matches.grades[row])
            before = self.sheet.cell(row, self.before).strip()
            self.replaced += bool(comment and before and comment != before)
            cells.append(comment)
        return cells

    def _on_comments(self) -> Iterator[str]:
        if self.replaced:
            yield f"Comments that the file has already are replaced for {self.replaced} students."
        if self.request.comments and not self.comments:
            yield "No comments are sent: a comment is on the whole work, not on one exercise."


class _Made:
    """Rows of what the course knows."""

    def __init__(self, request: Request) -> None:
        self.mark = decimal_mark(None, asked=request.options.get("decimal", "")).sign
        titles = wanted(request)
        headers = {key: _header(request, key, title, self.mark) for key, title in titles.items()}
        rows, changes, guessed = list_rows(request, Lms.SAKAI, (IdKind.LOGIN,), headers)
        comments = request.comments and WHOLE in titles
        self.table = [
            [*PEOPLE, *headers.values(), *([f"{COMMENT} {titles[WHOLE]}"] if comments else [])],
            *(
                [
                    row.ids[IdKind.LOGIN],
                    _name(row.grade),
                    *(score.text(self.mark) for score in row.scores),
                    *([comment_cell(row.grade)] if comments else []),
                ]
                for row in rows
            ),
        ]
        self.changes = tuple(changes)
        self.notes = (
            *([] if rows else ["No score is sent: the file has no row, so there is nothing to upload."]),
            *unknown_ids(guessed, Lms.SAKAI, "user id"),
            _offers(headers.values()),
        )


def _offers(headers: Iterable[str]) -> str:
    return (
        "Sakai makes a new item where it has none of that title, and offers to change the points of one that "
        f"has others: look at both in its preview ({', '.join(headers)})."
    )


def comment_cell(grade: Grade) -> str:
    """
    Return a grade's comment as a cell.

    Parameters
    ----------
    grade : Grade
        The student's.

    Returns
    -------
    str
        Text that no spreadsheet takes for a formula.
    """
    return harmless(storable(grade.comment).strip())


def _name(grade: Grade) -> str:
    """Return a name as Sakai writes it; it is ignored, people read it."""
    return harmless(", ".join(storable(part) for part in (grade.last_name, grade.first_name) if part))


def _header(request: Request, key: str, title: str, mark: str) -> str:
    """Return a header that Sakai reads as we mean it."""
    points = max_points_of(request.grades, key)
    header = title if points is None else f"{title} [{points_text(points).replace('.', mark)}]"
    item = parse_header(header)
    if item is None or item.title != title:
        what = (
            f"Sakai would not take {title!r} for a title: it has [ or ], begins with {COMMENT} or {IGNORED}, "
        )
        what += "or ends with a space"
        raise CourseError(
            "export sakai", what, "Call the item otherwise there, and here with --title or --column."
        )
    return header


def _clicks(mark: str) -> Iterator[str]:
    yield (
        "In Sakai: Gradebook, Import/Export, Import Grades; its preview lists unknown students and changes. "
        f"Your language in Sakai must write decimals with {'a comma' if mark == ',' else 'a point'}."
    )
    yield "Do not save the file with a spreadsheet: Excel breaks titles with accents."
