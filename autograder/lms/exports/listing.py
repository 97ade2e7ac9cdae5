"""Rows that are made without a file of the instructor's, from what the course knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autograder.lms.exports.columns import decimal_mark, score_of
from autograder.lms.exports.filling import sent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.lms.exports.columns import Score
    from autograder.lms.exports.model import Change, Request
    from autograder.lms.model import Grade, IdKind, Lms

NAMED = 5
"""Students that a note names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """
    A row that is made without a file of the instructor's.

    Parameters
    ----------
    grade : Grade
        Whose it is.
    ids : mapping of IdKind to str
        The ids by which the LMS knows the student.
    scores : tuple of Score
        In the order of the columns.
    """

    grade: Grade
    ids: Mapping[IdKind, str]
    scores: tuple[Score, ...]


def list_rows(
    request: Request, lms: Lms, kinds: Sequence[IdKind], headers: Mapping[str, str]
) -> tuple[list[Listed], list[Change], list[str]]:
    """
    Make rows from what the course knows, for an LMS that needs no file of the instructor's.

    Parameters
    ----------
    request : Request
        What is asked for.
    lms : Lms
        Which LMS.
    kinds : sequence of IdKind
        Ids that it can be told; the first is what a student's id in the course is taken
        for where the course does not know them by any.
    headers : mapping of str to str
        The header of the whole score, or of each notebook's.

    Returns
    -------
    rows : list of Listed
        Of students with a score.
    changes : list of Change
        One for each student and column.
    guessed : list of str
        Students in `rows` whose id in the LMS the course does not know.
    """
    rows, changes, guessed = [], [], []
    mark = decimal_mark(None, asked=request.options.get("decimal", "")).sign
    ids = {grade.student: _ids(grade, lms, kinds) for grade in request.grades}
    taken = {known[kinds[0]]: student for student, known in ids.items() if kinds[0] in known}
    for grade in request.grades:
        scores = tuple(score_of(request, grade, key) for key in headers)
        other = "" if ids[grade.student] else taken.get(grade.student, "")
        if other:
            why = f"the course does not know their id in {lms.shown}, and theirs here is that of {other}"
            scores = tuple(
                replace(score, points=None, reason=why) if score.points is not None else score
                for score in scores
            )
        for score, header in zip(scores, headers.values(), strict=True):
            changes.append(sent(grade.student, header, score, mark))
        if all(score.points is None for score in scores):
            continue
        if not ids[grade.student]:
            guessed.append(grade.student)
        rows.append(Listed(grade=grade, ids=ids[grade.student] or {kinds[0]: grade.student}, scores=scores))
    return rows, changes, guessed


def _ids(grade: Grade, lms: Lms, kinds: Sequence[IdKind]) -> dict[IdKind, str]:
    """Return the ids by which the LMS knows a student, as far as the course does."""
    person = grade.person(lms)
    return {kind: person.ids[kind] for kind in kinds if person is not None and person.ids.get(kind)}


def unknown_ids(guessed: Sequence[str], lms: Lms, what: str) -> Iterator[str]:
    """
    Say for whom an id was taken that the course knows for its own only.

    Parameters
    ----------
    guessed : sequence of str
        The students.
    lms : Lms
        Which LMS.
    what : str
        What it calls the id.

    Yields
    ------
    str
        One note, or none.
    """
    if guessed:
        names = ", ".join(guessed[:NAMED]) + (
            f" and {len(guessed) - NAMED} more" if len(guessed) > NAMED else ""
        )
        yield (
            f"The course does not know the {what} in {lms.shown} of {names}, so their ids here are sent. "
            f"Name the instructor's own export with --like to have them checked."
        )
