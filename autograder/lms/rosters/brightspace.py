"""Brightspace: exports of grades and of the classlist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters.rows import Columns, expected, has, kept, roster

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = "OrgDefinedId, Username, Last Name, First Name, Email of an export of grades"

_END = "End-of-Line Indicator"


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table looks like one of Brightspace.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide.
    """
    return has(sheet, "OrgDefinedId") or (has(sheet, _END) and has(sheet, "Username"))


def read(sheet: Sheet) -> Roster:
    """
    Read an export of grades or of the classlist.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        Ids without the ``#`` that Brightspace puts before them.

    Raises
    ------
    CourseError
        If it is none, or a row cannot be used.
    """
    sis, login, end = (sheet.column(name) for name in ("OrgDefinedId", "Username", _END))
    if sis is None and login is None:
        raise expected(sheet, HEADERS)
    columns = Columns(
        first_name=sheet.column("First Name"),
        last_name=sheet.column("Last Name"),
        email=sheet.column("Email"),
        sections=sheet.column("Section", "Sections", "Group", "Groups"),
        ids={IdKind.SIS: sis, IdKind.LOGIN: login},
        clean_id=lambda cell: cell.removeprefix("#"),
    )
    rows = kept(sheet)
    for row in rows.rows:
        if end is not None and sheet.cell(row, end).strip() != "#":
            what = "does not end where it should, so its cells are not below their headers"
            raise sheet.error(row, end, what, "Put names with a comma in quotes, or export the file again.")
    return roster(sheet, Lms.BRIGHTSPACE, columns, rows)
