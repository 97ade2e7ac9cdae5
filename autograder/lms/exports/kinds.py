"""Whose file a table is, told by headers that no other LMS writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports import blackboard, brightspace, openedx
from autograder.lms.exports.moodle_gradebook import DOWNLOADED
from autograder.lms.rosters import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from autograder.lms.sheets import Sheet

NAMES: Mapping[str, str] = {
    "canvas": "an export of Canvas's gradebook (Grades, Export)",
    "moodle-worksheet": "a grading worksheet of Moodle (Submissions, Download grading worksheet)",
    "moodle-grades": "an export of Moodle's gradebook (Grades, Export, Plain text file)",
    "blackboard": "a download of Blackboard's gradebook (Download, or Work Offline)",
    "brightspace": "an export of Brightspace's grades (Grades, Enter Grades, Export)",
    "sakai": "an export of Sakai's gradebook (Gradebook, Import / Export)",
    "openedx": "a file of Open edX, of a staff-graded problem or of Bulk Management",
    "gradescope": "the grades of an assignment that Gradescope exports (Review Grades, Download Grades)",
}
"""What each format takes with ``--like``."""

_MOODLE_ITEM = re.compile(r".+\((Real|Punkte|Brut|Réelle|Percentage|Prozentsatz|Pourcentage)\)", re.DOTALL)
_PARTICIPANT = re.compile(r"(?P<word>[^\W\d_]{4}\D*?)\s*[0-9]+")
_WHEN = re.compile(r".+\(.+\)", re.DOTALL)
_SAKAI_ITEM = re.compile(r"[^\[\]]+\[[0-9]+([.,][0-9]+)?\]")


def refuse_other_file(asked: str, sheet: Sheet) -> None:
    """
    Refuse a file that is known to be of another LMS, or of another part of it, than a format takes.

    Parameters
    ----------
    asked : str
        The format, as a command line calls it.
    sheet : Sheet
        The file of ``--like``.

    Raises
    ------
    CourseError
        If it is; with what it is, and what is needed.
    """
    found = kind_of(sheet)
    if asked not in NAMES or found in {"", asked}:
        return
    what = f"looks like {NAMES[found]}; `export {asked}` needs {NAMES[asked]}"
    raise CourseError(
        sheet.where, what, f"Name that file, or export for this one: autograder export {found}."
    )


def kind_of(sheet: Sheet) -> str:
    """
    Return which format a file is for.

    Parameters
    ----------
    sheet : Sheet
        A table.

    Returns
    -------
    str
        A key of `NAMES`; empty if its headers do not tell, or tell two.
    """
    found = [name for name, fits in _FITS.items() if fits(sheet)]
    return found[0] if len(found) == 1 else ""


def _headers(sheet: Sheet) -> list[str]:
    return [cell.strip() for cell in sheet.header]


def _is_canvas(sheet: Sheet) -> bool:
    header = _headers(sheet)
    return header[:2] in (["Student", "ID"], ["LastName", "FirstName"]) and "Section" in header


def _is_worksheet(sheet: Sheet) -> bool:
    """Return whether all rows begin with one word of any language and a number, and a header says when."""
    first = [sheet.cell(row, 0).strip() for row in range(1, len(sheet.rows))]
    words_before = {found and found["word"] for found in map(_PARTICIPANT.fullmatch, first)}
    one_word = len(words_before) == 1 and None not in words_before
    return one_word and any(map(_WHEN.fullmatch, _headers(sheet)))


def _is_moodle_grades(sheet: Sheet) -> bool:
    has_names = bool({*_headers(sheet)} & {*words.FIRST_NAME, *words.LAST_NAME})
    items = any(_MOODLE_ITEM.fullmatch(header) for header in _headers(sheet))
    return {*DOWNLOADED} <= {*_headers(sheet)} or (has_names and items)


def _is_blackboard(sheet: Sheet) -> bool:
    return any(blackboard.parse_header(header) for header in sheet.header)


def _is_brightspace(sheet: Sheet) -> bool:
    header = _headers(sheet)
    return brightspace.END in header or (
        "OrgDefinedId" in header and any(brightspace.parse_header(cell) for cell in header)
    )


def _is_sakai(sheet: Sheet) -> bool:
    header = _headers(sheet)
    return header[:2] == ["Student ID", "Name"] and any(map(_SAKAI_ITEM.fullmatch, header[2:]))


def _is_openedx(sheet: Sheet) -> bool:
    header = _headers(sheet)
    return "user_id" in header and (
        openedx.NEW in header or any(cell.startswith(openedx.OVERRIDE) for cell in header)
    )


def _is_gradescope(sheet: Sheet) -> bool:
    return {"Total Score", "Submission ID"} <= {*_headers(sheet)}


_FITS: Mapping[str, Callable[[Sheet], bool]] = {
    "canvas": _is_canvas,
    "moodle-worksheet": _is_worksheet,
    "moodle-grades": _is_moodle_grades,
    "blackboard": _is_blackboard,
    "brightspace": _is_brightspace,
    "sakai": _is_sakai,
    "openedx": _is_openedx,
    "gradescope": _is_gradescope,
}
