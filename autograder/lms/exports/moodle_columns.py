"""Moodle: which column of a grading worksheet is which, in whatever language its headers are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.lms.exports.columns import number_in
from autograder.lms.rosters import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from autograder.lms.exports.model import Request
    from autograder.lms.sheets import Sheet

HEADERS: Mapping[str, tuple[str, ...]] = {
    "identifier": ("Identifier", "Identifiant", "Identificador"),
    "grade": ("Grade", "Bewertung", "Note", "Calificación", "Nota", "Qualificació", "Avaliação"),
    "maximum": (
        *("Maximum grade", "Bestwertung", "Note maximale", "Calificación máxima", "Nota máxima"),
        "Qualificació màxima",
    ),
    "modified": words.GRADE_MODIFIED,
    "changeable": (
        *("Grade can be changed", "Bewertung kann geändert werden", "La note peut être modifiée"),
        *("La calificación puede ser cambiada", "Nota pode ser alterada", "La qualificació es pot canviar"),
        "Es pot canviar la qualificació",
    ),
    "comments": (
        *("Feedback comments", "Feedback als Kommentar", "Feedback par commentaires"),
        *("Comentarios de retroalimentación", "Comentários de feedback", "Comentaris de retroacció"),
        *("Comentaris de retroacció.", "Comentaris de retroalimentació"),
    ),
    "email": words.EMAIL,
    "login": words.LOGIN,
    "sis": words.SIS,
    "name": words.NAME,
}
"""What Moodle calls a column in the languages in which that is certain, the English word first."""

NO = frozenset({"no", "nein", "non", "não", "nee", "nej", "nei", "ne", "nie", "nem", "ei"})
"""How a worksheet says that a grade cannot be changed."""
YES = frozenset({"yes", "ja", "oui", "sí", "sì", "si", "sim", "da", "tak", "ano", "áno", "igen", "jah"})

NEEDED = ("identifier", "grade", "maximum", "modified")

SCALE = ("Scale", "Skala", "Barème", "Escala")

OPTIONS: Mapping[str, str] = {
    "identifier": "the header of the column of participants, in a language that is not known",
    "grade": "that of the column of grades",
    "maximum": "that of the column of maximum grades",
    "modified": "that of the column that says when a grade was last modified",
    "changeable": "that of the column that says whether a grade can be changed",
    "comments": "that of the column of feedback comments",
    "email": "that of the column of e-mail addresses",
    "sis": "that of the column of ID numbers",
    "login": "that of the column of user names",
    "name": "that of the column of full names",
}

PARTICIPANT = re.compile(r"[^\W\d_]\D*?\s*(?P<number>[0-9]+)")
"""The word in front, with or without a space, is in the user's language."""

_AGAIN = "Download the grading worksheet from Moodle again, and name that file as it comes."
_WHEN = re.compile(r".*\(.+\)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """
    Where things are in a worksheet.

    Parameters
    ----------
    identifier, grade, maximum, modified : int
        What Moodle needs, and what a grade is out of.
    changeable, comments, email, sis, login, name : int or None
        What may be there.
    """

    identifier: int
    grade: int
    maximum: int
    modified: int
    changeable: int | None = None
    comments: int | None = None
    email: int | None = None
    sis: int | None = None
    login: int | None = None
    name: int | None = None


def worksheet_columns(request: Request, sheet: Sheet) -> Columns:
    """
    Find the columns of a grading worksheet.

    Parameters
    ----------
    request : Request
        Headers that the instructor names are among its options.
    sheet : Sheet
        The worksheet.

    Returns
    -------
    Columns
        By the names that were given, else by what Moodle calls them in some languages,
        else by where they stand and what is in them.

    Raises
    ------
    CourseError
        If one that is needed is not found, or grades are words of a scale.
    """
    found = {role: _named(request, sheet, role) for role in HEADERS}
    placed = _placed(sheet, found)
    found |= {role: at for role, at in placed.items() if found[role] is None}
    _refuse_scale(sheet, found)
    for role in NEEDED:
        if found[role] is None:
            what = f"no header is known to be Moodle's {HEADERS[role][0]!r}"
            shown = ", ".join(repr(cell) for cell in sheet.header)
            raise sheet.error(0, None, what, f"Name it with --set {role}=HEADER, one of {shown}.")
    return Columns(**found)  # type: ignore[arg-type]  # none that is needed is None


def _named(request: Request, sheet: Sheet, role: str) -> int | None:
    asked = request.options.get(role)
    if not asked:
        return sheet.column(*HEADERS[role])
    at = sheet.column(asked)
    if at is None:
        shown = ", ".join(repr(cell) for cell in sheet.header)
        raise sheet.error(0, None, f"there is no column {asked!r}", f"The columns are {shown}.")
    return at


def _placed(sheet: Sheet, found: Mapping[str, int | None]) -> dict[str, int]:
    """
    Return what the order of columns says: participants first, the maximum right behind the grade.

    Only the maximum is one number in all rows, behind grades that are numbers or nothing.
    """
    rows = range(1, len(sheet.rows))
    column = _reader(sheet)
    if not rows or not all(PARTICIPANT.fullmatch(cell.strip()) for cell in column(0)):
        return {}
    placed = {"identifier": 0}
    dated = [at for at, header in enumerate(sheet.header) if _WHEN.fullmatch(header)]
    if dated:
        placed["modified"] = dated[-1]
    grade = found["grade"]
    last = found["modified"] or placed.get("modified", 0)
    beside = range(2, last) if grade is None else [grade + 1]
    fit = [at for at in beside if _is_maximum(column(at)) and all(map(_may_be_grade, column(at - 1)))]
    if len(fit) == 1:
        placed |= {"grade": fit[0] - 1, "maximum": fit[0]}
    if found["modified"] is None and found["name"] is None:
        # In a language that is known there would be a header, if people had names.
        placed["name"] = 1
    if found["email"] is None:
        emails = [at for at in range(1, len(sheet.header)) if any(column(at)) and _are_emails(column(at))]
        placed |= {"email": emails[0]} if len(emails) == 1 else {}
    return placed


def _reader(sheet: Sheet) -> Callable[[int], list[str]]:
    return lambda at: [sheet.cell(row, at) for row in range(1, len(sheet.rows))]


def _is_maximum(cells: list[str]) -> bool:
    numbers = {number_in(cell) for cell in cells}
    number = numbers.pop() if len(numbers) == 1 else None
    return number is not None and number > 0


def _may_be_grade(cell: str) -> bool:
    return not cell.strip() or number_in(cell) is not None


def _are_emails(cells: list[str]) -> bool:
    return all(re.fullmatch(r"[^@\s]+@[^@\s]+", cell.strip()) for cell in cells if cell.strip())


def _refuse_scale(sheet: Sheet, found: Mapping[str, int | None]) -> None:
    """Refuse a worksheet whose grades are words."""
    at = sheet.column(*SCALE)
    if at is None and found["maximum"] is None and found["grade"] is not None:
        beside = _reader(sheet)(found["grade"] + 1)
        at = found["grade"] + 1 if beside and not any(number_in(cell) for cell in beside) else None
    if at is not None and found["maximum"] is None:
        scale = sheet.cell(1, at) if len(sheet.rows) > 1 else sheet.header[at]
        what = f"grades are words of a scale, {scale!r}, and no points"
        remedy = "Set the type of grade to points in Moodle's assignment, and download the worksheet again."
        raise sheet.error(0, at, what, remedy)
