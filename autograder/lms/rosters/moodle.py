"""Moodle: exports of participants and grades, the upload file of administrators, the grading worksheet."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Roster
from autograder.lms.rosters import words
from autograder.lms.rosters.rows import Columns, expected, has, kept, roster
from autograder.lms.times import english_time
from autograder.terminal import printable

if TYPE_CHECKING:
    from autograder.lms.sheets import Sheet

HEADERS = (
    "First name, Last name (or Surname), ID number, Username or Email address of an export of participants "
    "or grades, Identifier, Full name of a grading worksheet, or username, firstname, lastname, email"
)

_PARTICIPANT = re.compile(r"(?P<word>[^\W\d_]\D*?)(?P<space>\s*)(?P<number>\d+)")
"""Its word is in the language of whoever downloaded the worksheet."""
_OWN = (
    "Surname",
    "Email address",
    "ID number",
    "Last downloaded from this course",
    "E-Mail-Adresse",
    "ID-Nummer",
    "Adresse de courriel",
    "Numéro d'identification",
    "Dirección de correo",
    "Número de ID",
    "Indirizzo email",
)
"""Headers beside names that are Moodle's own."""
_NAMES = (words.FIRST_NAME, words.LAST_NAME, words.NAME, words.EITHER_LAST, words.EITHER_FIRST)
_LISTS = (words.STUDENT, words.LOGIN, words.SIS, words.EMAIL, *_NAMES)
_OF_LISTS = {word.casefold() for some in _LISTS for word in some}
"""Headers of a first column that is no worksheet's, though its cells be "student 1", "student 2"."""
_LEAST_COLUMNS = 3
"""A worksheet has an identifier, a grade and when it was changed."""


def fits(sheet: Sheet) -> bool:
    """
    Return whether a table looks like one of Moodle.

    Parameters
    ----------
    sheet : Sheet
        Any table.

    Returns
    -------
    bool
        Headers decide; of a worksheet, whose headers are in any language, the first column.
    """
    return _is_worksheet(sheet) or _is_list(sheet)


def read(sheet: Sheet) -> Roster:
    """
    Read any of Moodle's tables of people.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    Roster
        Of a worksheet with participant numbers, which belong to that assignment alone.

    Raises
    ------
    CourseError
        If it is none, or a row cannot be used.
    """
    names = words.name_columns(sheet)
    columns = Columns(
        first_name=names.first,
        last_name=names.last,
        name=names.whole,
        email=sheet.column(*words.EMAIL),
        sections=sheet.column(*words.SECTIONS),
        ids={IdKind.LOGIN: sheet.column(*words.LOGIN), IdKind.SIS: sheet.column(*words.SIS)},
        split=_groups,
    )
    if _is_worksheet(sheet):
        return _worksheet(sheet, columns)
    if not names.found or (columns.email is None and set(columns.ids.values()) == {None}):
        raise expected(sheet, HEADERS)
    return roster(sheet, Lms.MOODLE, columns)


def _is_list(sheet: Sheet) -> bool:
    if has(sheet, *words.STUDENT):
        return False
    headers = {cell.strip() for cell in sheet.header}
    if {"firstname", "lastname"} <= headers:
        return True
    return has(sheet, *words.FIRST_NAME) and has(sheet, *words.LAST_NAME) and has(sheet, *_OWN)


def _is_worksheet(sheet: Sheet) -> bool:
    if len(sheet.header) < _LEAST_COLUMNS:
        return False
    if has(sheet, "Identifier") and has(sheet, "Grade", "Status", "Last modified (grade)"):
        return True
    found = [_PARTICIPANT.fullmatch(sheet.cell(row, 0).strip()) for row in range(1, len(sheet.rows))]
    if has(sheet, *words.GRADE_MODIFIED) and found and None not in found:
        # In German the identifiers are called ID, and have no space before the number.
        return True
    known = {one["word"] if one and one["space"] else "" for one in found}
    return len(known) == 1 and known != {""} and sheet.header[0].strip().casefold() not in _OF_LISTS


def _worksheet(sheet: Sheet, columns: Columns) -> Roster:
    at = sheet.column("Identifier") or 0
    people, rows = kept(sheet), list(sheet.rows)
    for row in people.rows:
        found = _PARTICIPANT.fullmatch(sheet.cell(row, at).strip())
        if found is None:
            what = f"{printable(sheet.cell(row, at))!r} is not the identifier of a participant"
            raise sheet.error(row, at, what, "Download the grading worksheet again.")
        rows[row] = (*rows[row][:at], found["number"], *rows[row][at + 1 :])
    numbered = replace(columns, ids={IdKind.PARTICIPANT: at, **columns.ids})
    read = roster(replace(sheet, rows=tuple(rows)), Lms.MOODLE, numbered, people)
    read = _with_times(read, sheet)
    if columns.name is not None or columns.last_name is not None:
        return read
    note = "The worksheet has no names: participants are known by their number alone."
    return replace(read, notes=(*read.notes, note))


def _with_times(read: Roster, sheet: Sheet) -> Roster:
    """Return a roster with the times of submissions, which the zip of submissions does not have."""
    column = sheet.column("Last modified (submission)")
    cells = {sheet.lines[row]: sheet.cell(row, column).strip() for row in range(1, len(sheet.rows))}
    people = tuple(replace(one, submitted_at=english_time(cells[one.line])) for one in read.people)
    unread = [one.line for one in people if one.submitted_at is None and cells[one.line] not in {"", "-"}]
    if not unread:
        return replace(read, people=people)
    shown = printable(cells[unread[0]])
    note = f"Line {unread[0]}: {shown!r} is no time in English, so such work has no time and is not late."
    return replace(read, people=people, notes=(*read.notes, note))


def _groups(cell: str) -> tuple[str, ...]:
    return tuple(group for group in cell.split(", ") if group.strip())
