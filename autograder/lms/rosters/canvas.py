"""Canvas: the gradebook export of teachers, and `users.csv` of the SIS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters.rows import Columns, expected, kept, roster

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.lms.sheets import Sheet

HEADERS = (
    "Student, ID, SIS User ID, SIS Login ID, Section (or LastName, FirstName, ID, ...) of a gradebook export"
)

_GUARDED = re.compile(r'="(?P<name>.*)"', re.DOTALL)
"""How Canvas keeps a name that begins with = from being a formula."""
_TEST_STUDENT = {("Student, Test", "", ""), ("", "Student", "Test")}
_SEPARATORS = re.compile(r", and | and |, ")


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table looks like one of Canvas.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide.
    """
    return _is_gradebook(sheet) or _is_users(sheet)


def read(sheet: Sheet) -> Roster:
    """
    Read a gradebook export or `users.csv`.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        Without the test student and without those whom the SIS has deleted, each with a note.

    Raises
    ------
    CourseError
        If it is neither, or a row cannot be used.
    """
    if _is_users(sheet):
        return _users(sheet)
    if not _is_gradebook(sheet):
        raise expected(sheet, HEADERS)
    columns = Columns(
        first_name=_column(sheet, "FirstName"),
        last_name=_column(sheet, "LastName"),
        name=_column(sheet, "Student"),
        sections=_column(sheet, "Section"),
        ids={
            IdKind.USER: _column(sheet, "ID"),
            IdKind.LOGIN: _column(sheet, "SIS Login ID"),
            IdKind.SIS: _column(sheet, "SIS User ID"),
        },
        clean_name=unguarded,
        split=_sections(sheet),
    )

    def left_out(row: int) -> str | None:
        names = columns.name, columns.last_name, columns.first_name
        if "Points Possible" in sheet.cell(row, 0):
            return ""
        if not any(sheet.cell(row, column).strip() for column in (*names, *columns.ids.values())):
            return ""  # "Manual Posting" and the like, over assignments
        if tuple(sheet.cell(row, column).strip() for column in names) in _TEST_STUDENT:
            return "Canvas's test student is left out."
        return None

    return roster(sheet, Lms.CANVAS, columns, kept(sheet, left_out))


def unguarded(name: str) -> str:
    """
    Return a name without what keeps a spreadsheet from running it.

    Parameters
    ----------
    name : str
        As it stands in an export.

    Returns
    -------
    str
        The name as Canvas shows it.
    """
    found = _GUARDED.fullmatch(name)
    return found["name"] if found else name


def _cells(sheet: Sheet) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in sheet.header)


def _column(sheet: Sheet, name: str) -> int | None:
    """Return the first column of a name: an assignment of that name would stand further right."""
    cells = _cells(sheet)
    return cells.index(name) if name in cells else None


def _is_gradebook(sheet: Sheet) -> bool:
    cells = _cells(sheet)
    return cells[:2] == ("Student", "ID") or cells[:3] == ("LastName", "FirstName", "ID")


def _is_users(sheet: Sheet) -> bool:
    return {"user_id", "login_id", "status"} <= {cell.casefold() for cell in _cells(sheet)}


def _users(sheet: Sheet) -> Roster:
    status = sheet.column("status")
    columns = Columns(
        first_name=sheet.column("first_name"),
        last_name=sheet.column("last_name"),
        name=sheet.column("sortable_name", "full_name"),
        email=sheet.column("email"),
        ids={IdKind.SIS: sheet.column("user_id"), IdKind.LOGIN: sheet.column("login_id")},
    )

    def left_out(row: int) -> str | None:
        deleted = sheet.cell(row, status).strip().casefold() == "deleted"
        return f"{sheet.cell(row, columns.ids[IdKind.LOGIN])} is deleted." if deleted else None

    return roster(sheet, Lms.CANVAS, columns, kept(sheet, left_out))


def _sections(sheet: Sheet) -> Callable[[str], tuple[str, ...]]:
    """Return what splits "Sec 1 and Sec 2", but not a section that is itself called "Law and Order"."""
    column = _column(sheet, "Section")
    alone = {sheet.cell(row, column).strip() for row in range(1, len(sheet.rows))}

    def split(cell: str) -> tuple[str, ...]:
        parts = tuple(_SEPARATORS.split(cell))
        return parts if len(parts) > 1 and set(parts) <= alone else (cell,)

    return split
