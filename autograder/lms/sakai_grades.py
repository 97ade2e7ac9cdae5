"""`grades.csv` of an assignment in Sakai: a table below lines of titles, in the language of the site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

_LAST_TITLE = 8
"""Rows among which the header is looked for."""
_TITLE_CELLS = 3
"""A row of titles has no more cells than this."""
_STUDENTS, _GROUPS = 7, 6
"""Columns of the two kinds of tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grades:
    """
    Where in the table what is: the columns' order is fixed, their headers are not.

    Parameters
    ----------
    header : int
        The row of the headers, from 0.
    eid, late : int
        Columns, from 0.
    display_id, last_name, first_name, members : int or None
        Columns of students, or of groups.
    """

    header: int
    eid: int = 1
    late: int
    display_id: int | None = None
    last_name: int | None = None
    first_name: int | None = None
    members: int | None = None


def find_grades(sheet: Sheet) -> Grades | None:
    """
    Return where the table of an assignment's grades begins.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    Grades or None
        None if it is another table: the header of any other is the first row.
    """
    for row, cells in enumerate(sheet.rows[:_LAST_TITLE]):
        width = len(_text(cells))
        if width > _TITLE_CELLS:
            titles = row > 0
            if titles and width == _STUDENTS:
                return Grades(header=row, late=6, display_id=0, last_name=2, first_name=3)
            return Grades(header=row, late=5, members=2) if titles and width == _GROUPS else None
    return None


def is_late(cell: str) -> bool | None:
    """
    Return what a cell says of lateness.

    Parameters
    ----------
    cell : str
        A cell of the column `Grades.late`.

    Returns
    -------
    bool or None
        None if it says nothing, or not in English.
    """
    words = " ".join(cell.replace("-", " ").casefold().split())
    return {"late": True, "yes": True, "on time": False, "no": False}.get(words)


def _text(cells: tuple[str, ...]) -> list[str]:
    return [cell for cell in cells if cell.strip()]
