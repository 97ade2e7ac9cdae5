"""A list that somebody made: columns of ids, names and addresses, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters import words
from autograder.lms.rosters.rows import Columns, expected, has, roster

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = "one of id, username, id_number and email, with first_name and last_name or name"


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table tells people apart.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        True if it has a column of ids or addresses.
    """
    return has(sheet, *words.STUDENT, *words.LOGIN, *words.SIS, *words.EMAIL, "lti_user_id")


def read(sheet: Sheet) -> Roster:
    """
    Read a list.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        The column ``id`` is the id in this course, and, if there is no column of
        usernames, what students log in with.

    Raises
    ------
    CourseError
        If nothing in it tells people apart, or a row cannot be used.
    """
    if not fits(sheet):
        raise expected(sheet, HEADERS)
    names = words.name_columns(sheet)
    student, login = sheet.column(*words.STUDENT), sheet.column(*words.LOGIN)
    columns = Columns(
        first_name=names.first,
        last_name=names.last,
        name=names.whole,
        email=sheet.column(*words.EMAIL),
        sections=sheet.column(*words.SECTIONS),
        student=student,
        ids={
            IdKind.LOGIN: student if login is None else login,
            IdKind.SIS: sheet.column(*words.SIS),
            IdKind.USER: sheet.column("lms_user_id", "user_id"),
            IdKind.LTI: sheet.column("lti_user_id"),
        },
        clean_id=str.strip,
    )
    return roster(sheet, Lms.PLAIN, columns)
