"""Blackboard: the download of the Grade Center or gradebook, as `.xls` (tabs, UTF-16) or `.csv`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters.rows import Columns, expected, has, roster

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = "Last Name, First Name, Username, Student ID of a download of the gradebook"

_GRADES = re.compile(r".*\[Total Pts: .*\]\s*\|\s*\d+", re.DOTALL)


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table looks like one of Blackboard.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide.
    """
    own = has(sheet, "Student ID", "Last Access", "Availability") or any(
        _GRADES.fullmatch(cell.strip()) for cell in sheet.header
    )
    return own and all(has(sheet, name) for name in ("Last Name", "First Name", "Username"))


def read(sheet: Sheet) -> Roster:
    """
    Read a download of the gradebook.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        Students who are not available are there: they may have handed in.

    Raises
    ------
    CourseError
        If it is none, or a row cannot be used.
    """
    username = sheet.column("Username")
    if username is None:
        raise expected(sheet, HEADERS)
    columns = Columns(
        first_name=sheet.column("First Name"),
        last_name=sheet.column("Last Name"),
        email=sheet.column("Email"),
        ids={IdKind.LOGIN: username, IdKind.SIS: sheet.column("Student ID")},
    )
    return roster(sheet, Lms.BLACKBOARD, columns)
