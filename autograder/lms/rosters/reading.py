"""Any roster: whose it is, told by its headers, and who is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from autograder.lms.model import Lms, Roster
from autograder.lms.rosters import (
    blackboard,
    brightspace,
    canvas,
    gradescope,
    moodle,
    nbgrader,
    openedx,
    plain,
    sakai,
)
from autograder.lms.rosters.rows import shown_headers
from autograder.lms.sheets import read_sheet

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.lms.sheets import Sheet


class Format(Protocol):
    """A module of this package: it knows the tables of one LMS."""

    HEADERS: str
    """What its tables have in their first row: a phrase for messages."""

    def fits(self, sheet: Sheet) -> bool:
        """
        Return whether a table looks like one of the LMS.

        Parameters
        ----------
        sheet : Sheet
            Any table.

        Returns
        -------
        bool
            Headers decide.
        """
        ...

    def read(self, sheet: Sheet) -> Roster:
        """
        Read a table of the LMS.

        Parameters
        ----------
        sheet : Sheet
            The table.

        Returns
        -------
        Roster
            Who is in it.

        Raises
        ------
        CourseError
            If it is none of the LMS's, or a row cannot be used.
        """
        ...


FORMATS: dict[Lms, Format] = {
    Lms.CANVAS: canvas,
    Lms.MOODLE: moodle,
    Lms.BLACKBOARD: blackboard,
    Lms.BRIGHTSPACE: brightspace,
    Lms.SAKAI: sakai,
    Lms.GRADESCOPE: gradescope,
    Lms.OPENEDX: openedx,
    Lms.NBGRADER: nbgrader,
    Lms.PLAIN: plain,
}
_ANYBODYS = {Lms.NBGRADER, Lms.PLAIN}
"""What a table is where it is no LMS's."""


def read_roster(path: Path, lms: Lms | None = None) -> Roster:
    """
    Read who is in a course from a table of an LMS, or a list.

    Parameters
    ----------
    path : Path
        The file: CSV of any kind, or text with tabs.
    lms : Lms, optional
        Whose it is. By default its headers tell.

    Returns
    -------
    Roster
        People with their ids letter for letter, and notes of rows that were left out.

    Raises
    ------
    CourseError
        If it cannot be told whose it is, or a row cannot be used: with line and column.
    OperatorError
        If the file cannot be read.
    """
    return roster_of(read_sheet(path), lms)


def roster_of(sheet: Sheet, lms: Lms | None = None) -> Roster:
    """
    Read who is in a table.

    Parameters
    ----------
    sheet : Sheet
        The table.
    lms : Lms, optional
        Whose it is. By default its headers tell.

    Returns
    -------
    Roster
        As of `read_roster`.

    Raises
    ------
    CourseError
        As of `read_roster`.
    """
    found = FORMATS[lms or whose(sheet)].read(sheet)
    if not found.people:
        raise sheet.error(0, None, "has nobody in it", "Export it again, with its students.")
    return found


def whose(sheet: Sheet) -> Lms:
    """
    Return whose table it is, told by its headers.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Lms
        A list that is no LMS's is nbgrader's, or plain.

    Raises
    ------
    CourseError
        If no LMS writes such a table, or it could be that of several.
    """
    fitting = [lms for lms, one in FORMATS.items() if one.fits(sheet)]
    found = [lms for lms in fitting if lms not in _ANYBODYS] or fitting[:1]
    if len(found) == 1:
        return found[0]
    headers = shown_headers(sheet)
    if found:
        names = " or ".join(lms.shown for lms in found)
        what = f"could be a table of {names}: its headers are {headers}"
        raise sheet.error(0, None, what, "Say which LMS it is from.")
    known = "; ".join(f"{lms.shown}: {one.HEADERS}" for lms, one in FORMATS.items())
    what = f"is no roster that is known: its headers are {headers}"
    raise sheet.error(0, None, what, f"Known are: {known}.")
