"""Canvas: what is where in the gradebook export of an instructor, and what Canvas takes a header for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports.columns import Item, choose_items, number_in
from autograder.lms.exports.matching import Who
from autograder.lms.model import IdKind, Lms
from autograder.lms.rosters.canvas import unguarded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.lms.exports.model import Request
    from autograder.lms.model import Person
    from autograder.lms.sheets import Sheet

RESERVED = tuple(
    f"{whose} {what}"
    for whose, words in {
        "Current": ("Score", "Points", "Grade"),
        "Final": ("Score", "Points", "Grade"),
        "Override": ("Score", "Grade", "Status"),
    }.items()
    for what in words
)
"""Canvas ignores each column whose header holds one of these, as its own totals do."""

_OPTIONAL = ("SIS User ID", "SIS Login ID", "Integration ID", "Root Account")
FIXED = ("Student", "LastName", "FirstName", "ID", *_OPTIONAL, "Section")
POINTS_POSSIBLE = "Points Possible"
"""A row whose first cell holds this sets points, wherever it stands, even if it is a name."""

_AGAIN = "Export the gradebook from Canvas again, and name that file as it comes."
_ASSIGNMENT = re.compile(r"(?P<title>.*\S)\s+\((?P<id>[0-9]+)\)", re.DOTALL)
_BETWEEN = (
    re.compile(r"(SIS Login ID\n)?"),
    re.compile(r"SIS User ID\nSIS Login ID\n(Integration ID\n)?(Root Account\n)?"),
)
"""What may stand between ID and Section: anything else is an "Invalid header row"."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
_TEST_STUDENT = ("Student, Test", "Test Student")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradebook:
    """
    An instructor's gradebook export, understood.

    Parameters
    ----------
    sheet : Sheet
        The file.
    width : int
        How many columns say who a row is about; they come first, the last is ``Section``.
    who : Who
        What they say.
    points : tuple of int
        Rows that say what the assignments are worth.
    students : tuple of int
        Rows of students.
    unreadable : mapping of int to str
        Rows of students that Canvas would take for something else, with a clause why.
    others : mapping of int to str
        Rows that are no student of the course, with a clause what they are.
    items : mapping of str to Item
        The chosen columns, by notebook or `WHOLE`.
    """

    sheet: Sheet
    width: int
    who: Who
    points: tuple[int, ...]
    students: tuple[int, ...]
    unreadable: Mapping[int, str]
    others: Mapping[int, str]
    items: Mapping[str, Item]

    def identity(self, row: int) -> list[str]:
        """Return the cells that say who a row is about, as they stand."""
        return [self.sheet.cell(row, column) for column in range(self.width)]


def read_gradebook(request: Request, sheet: Sheet) -> Gradebook:
    """
    Find rows and columns in a gradebook export.

    Parameters
    ----------
    request : Request
        What is asked for.
    sheet : Sheet
        The file.

    Returns
    -------
    Gradebook
        Every row is in it once, but those that only head the columns.

    Raises
    ------
    CourseError
        If it is no gradebook export, a spreadsheet has spoilt its ids, a student is there
        twice, or a column is missing, twice there or read only.
    """
    width = _width(sheet)
    points, students = _rows(sheet)
    items = choose_items(request, sheet, _items(sheet, width, points))
    for item in items.values():
        for row in points:
            if "read only" in sheet.cell(row, item.column).casefold():
                what = "Canvas ignores this column, which is read only"
                raise sheet.error(row, item.column, what, "Name another one, or enter these scores by hand.")
    who = _who(sheet)
    others = {row: "Canvas's test student" for row in students if _is_test(request, who.person(sheet, row))}
    misread = f"Canvas would take the row for that of points, as it is named {POINTS_POSSIBLE!r}"
    return Gradebook(
        sheet=sheet,
        width=width,
        who=who,
        points=points,
        students=tuple(row for row in students if row not in others),
        unreadable={row: misread for row in students if POINTS_POSSIBLE in sheet.cell(row, 0)},
        others=others,
        items=items,
    )


def safe_header(header: str) -> str:
    """
    Return a header of an assignment so that Canvas does not take it for something else.

    Parameters
    ----------
    header : str
        A title and, in parentheses, the number by which Canvas finds the assignment.

    Returns
    -------
    str
        The header as it stands, if Canvas reads it; else with another title and the same number.
    """
    safe = _CONTROL.sub(" ", header)
    for phrase in RESERVED:
        safe = safe.replace(phrase, phrase.replace(" ", "_"))
    return safe


def has_number(title: str) -> bool:
    """Return whether a title ends in the number by which Canvas finds an assignment."""
    return _ASSIGNMENT.fullmatch(title) is not None


def checked_title(where: str, title: str) -> str:
    """
    Return a title that Canvas reads as it stands.

    Parameters
    ----------
    where : str
        The option that it is from.
    title : str
        A title, with or without a number in parentheses.

    Returns
    -------
    str
        The title, or, of one with a number, its safe form.

    Raises
    ------
    CourseError
        If Canvas would ignore the column or take it for another one.
    """
    remedy = "Name it with its number, as in 'HW 1 (4021)', or export with --like."
    if has_number(title):
        return safe_header(title)
    number = number_in(title)
    if safe_header(title) != title:
        raise CourseError(where, f"Canvas ignores a column that is called {title!r}", remedy)
    if not title.strip() or title.strip() in FIXED:
        raise CourseError(where, f"{title!r} is no title of an assignment for Canvas", remedy)
    if number is not None and f"{number:f}" != title:
        raise CourseError(where, f"Canvas would read the title {title!r} as {number:f}", remedy)
    return title


def _width(sheet: Sheet) -> int:
    """Return how many columns say who a row is about."""
    header = [cell.strip() for cell in sheet.header]
    names = 2 if header[:2] == ["LastName", "FirstName"] else 1
    found = header[names : names + 1] == ["ID"] and "Section" in header
    if not found or (names == 1 and header[0] != "Student"):
        what = "is no gradebook export of Canvas, whose first columns are Student, ID, ..., Section"
        raise sheet.error(0, None, what, _AGAIN)
    section = header.index("Section")
    between = "".join(f"{cell}\n" for cell in header[names + 1 : section])
    if not any(pattern.fullmatch(between) for pattern in _BETWEEN):
        what = "the columns before Section are not in the order that Canvas writes and takes"
        raise sheet.error(0, None, what, _AGAIN)
    return section + 1


def _who(sheet: Sheet) -> Who:
    header = [cell.strip() for cell in sheet.header]

    def column(name: str) -> int | None:
        return header.index(name) if name in header else None

    kinds = {IdKind.USER: "ID", IdKind.SIS: "SIS User ID", IdKind.LOGIN: "SIS Login ID"}
    columns = {kind: column(name) for kind, name in kinds.items()}
    return Who(
        lms=Lms.CANVAS,
        ids={kind: at for kind, at in columns.items() if at is not None},
        # At many schools the login is the address.
        email=columns[IdKind.LOGIN],
        name=column("Student"),
        first_name=column("FirstName"),
        last_name=column("LastName"),
        clean=lambda cell: unguarded(cell.strip()),
    )


def _rows(sheet: Sheet) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the rows of points and those of students; what else heads columns is neither."""
    at = [cell.strip() for cell in sheet.header].index("ID")
    points, students = [], []
    lines: dict[str, int] = {}
    for row in range(1, len(sheet.rows)):
        identity = sheet.cell(row, at).strip()
        name = sheet.cell(row, 0)
        if not identity:
            if POINTS_POSSIBLE in name:
                points.append(row)
            elif name.strip():
                raise sheet.error(row, at, "the student has no ID", _AGAIN)
            continue
        if not (identity.isascii() and identity.isdigit()):
            what = f"{identity!r} is no ID of Canvas, which would read the digits at its beginning"
            raise sheet.error(row, at, what, _AGAIN)
        if len(sheet.rows[row]) > len(sheet.header):
            what = f"has {len(sheet.rows[row])} cells, but the header has {len(sheet.header)}"
            raise sheet.error(row, None, what, _AGAIN)
        if identity in lines:
            what = f"line {lines[identity]} has the ID {identity} too"
            raise sheet.error(row, at, what, "Keep the row that counts.")
        lines[identity] = sheet.lines[row]
        students.append(row)
    return tuple(points), tuple(students)


def _items(sheet: Sheet, width: int, points: tuple[int, ...]) -> list[Item]:
    """Return the columns of assignments, which have a number; totals and custom columns have none."""
    items = []
    for column in range(width, len(sheet.header)):
        found = _ASSIGNMENT.fullmatch(sheet.header[column].strip())
        if found is not None:
            worth = next((number_in(sheet.cell(row, column)) for row in points), None)
            item = Item(
                column=column,
                header=sheet.header[column],
                title=found["title"],
                key=found["id"],
                max_points=worth,
            )
            items.append(item)
    return items


def _is_test(request: Request, person: Person) -> bool:
    """Return whether a row is that of Canvas's test student, unless the course has one of that id."""
    number = person.ids.get(IdKind.USER)
    theirs = [grade.person(Lms.CANVAS) for grade in request.grades]
    known = any(one is not None and one.ids.get(IdKind.USER) == number for one in theirs)
    names = {person.name, f"{person.first_name} {person.last_name}"}
    return bool(names & set(_TEST_STUDENT)) and not known
