"""Open edX: the grade report, and the files of staff-graded points and bulk grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters.rows import Columns, expected, has, kept, roster

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = "Student ID, Email, Username of a grade report, or user_id, username of staff-graded points"


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table looks like one of Open edX.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide.
    """
    report = has(sheet, "Student ID") and has(sheet, "Username") and has(sheet, "Enrollment Track")
    points = has(sheet, "user_id") and has(sheet, "block_id", "course_id") and has(sheet, "username")
    return report or points


def read(sheet: Sheet) -> Roster:
    """
    Read a grade report or a file of points.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        Without learners who are no longer enrolled, each with a note.

    Raises
    ------
    CourseError
        If it is none, or a row cannot be used.
    """
    user, login = sheet.column("user_id", "Student ID"), sheet.column("Username")
    if user is None or login is None:
        raise expected(sheet, HEADERS)
    columns = Columns(
        name=sheet.column("full_name"),
        email=sheet.column("Email"),
        sections=sheet.column("Cohort Name", "cohort"),
        ids={
            IdKind.USER: user,
            IdKind.LOGIN: login,
            IdKind.SIS: sheet.column("student_uid", "student_key"),
        },
    )
    status = sheet.column("Enrollment Status")

    def left_out(row: int) -> str | None:
        gone = sheet.cell(row, status).strip().casefold() == "unenrolled"
        return f"{sheet.cell(row, login)} is no longer enrolled." if gone else None

    return roster(sheet, Lms.OPENEDX, columns, kept(sheet, left_out))
