"""Sakai: the gradebook's export, and `grades.csv` inside a download of an assignment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters import words
from autograder.lms.rosters.rows import Columns, below, expected, has, roster
from autograder.lms.sakai_grades import find_grades

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = "Student ID, Name of an export of the gradebook, or those of grades.csv of an assignment"


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table looks like one of Sakai.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide.
    """
    if find_grades(sheet) is not None:
        return True
    cells = tuple(cell.strip() for cell in sheet.header[:2])
    return cells == ("Student ID", "Name") and not has(sheet, *words.EMAIL, *words.LOGIN, *words.SIS)


def read(sheet: Sheet) -> Roster:
    """
    Read an export of the gradebook, whose first columns are ids and names in any language, or `grades.csv`.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        Ids are what students log in with (eid).

    Raises
    ------
    CourseError
        If it is neither, or a row cannot be used.
    """
    grades = find_grades(sheet)
    if grades is not None:
        columns = Columns(
            first_name=grades.first_name,
            last_name=grades.last_name,
            ids={IdKind.SIS: grades.display_id, IdKind.LOGIN: grades.eid},
        )
        return roster(below(sheet, grades.header), Lms.SAKAI, columns)
    if len(sheet.header) < 2:  # noqa: PLR2004  an id and a name
        raise expected(sheet, HEADERS)
    return roster(sheet, Lms.SAKAI, Columns(name=1, ids={IdKind.LOGIN: 0}))
