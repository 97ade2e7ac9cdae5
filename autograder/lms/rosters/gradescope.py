"""Gradescope: exports of grades, of one assignment or all, and rosters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters.rows import Columns, expected, has, kept, roster

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = "First Name, Last Name (or Name), SID, Email of an export of grades or a roster"


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table looks like one of Gradescope.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide.
    """
    return has(sheet, "SID") and has(sheet, "Email") and has(sheet, "Name", "First Name")


def read(sheet: Sheet) -> Roster:
    """
    Read an export of grades or a roster.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        If there is a column of roles, students alone.

    Raises
    ------
    CourseError
        If it is none, or a row cannot be used.
    """
    sid, email = sheet.column("SID", "Student ID"), sheet.column("Email")
    if sid is None and email is None:
        raise expected(sheet, HEADERS)
    columns = Columns(
        first_name=sheet.column("First Name"),
        last_name=sheet.column("Last Name"),
        name=sheet.column("Name", "Full Name"),
        email=email,
        sections=sheet.column("Sections", "Section"),
        ids={IdKind.SIS: sid},
    )
    role = sheet.column("Role")

    def left_out(row: int) -> str | None:
        what = sheet.cell(row, role).strip()
        return f"{what} is no student's role." if what and what.casefold() != "student" else None

    return roster(sheet, Lms.GRADESCOPE, columns, kept(sheet, left_out))
