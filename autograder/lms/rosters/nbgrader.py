"""nbgrader: the file that `nbgrader db student import` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters.rows import Columns, expected, roster

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = "id, first_name, last_name, email, lms_user_id of a file for nbgrader db student import"

_OWN = {"id", "first_name", "last_name", "email", "lms_user_id"}


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table is one that nbgrader takes.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide: nbgrader knows these alone.
    """
    headers = {cell.strip() for cell in sheet.header}
    return "id" in headers and len(headers) > 1 and headers <= _OWN


def read(sheet: Sheet) -> Roster:
    """
    Read a file for `nbgrader db student import`.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        Each id is the student's in this course, and what they log in with.

    Raises
    ------
    CourseError
        If it is none, or a row cannot be used.
    """
    student = sheet.column("id")
    if student is None:
        raise expected(sheet, HEADERS)
    columns = Columns(
        first_name=sheet.column("first_name"),
        last_name=sheet.column("last_name"),
        email=sheet.column("email"),
        student=student,
        ids={IdKind.LOGIN: student, IdKind.USER: sheet.column("lms_user_id")},
        clean_id=str.strip,
    )
    return roster(sheet, Lms.NBGRADER, columns)
