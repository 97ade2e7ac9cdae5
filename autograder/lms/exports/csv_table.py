"""A general CSV table: a row for each student, a column for each graded cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.exports.columns import score_of
from autograder.lms.exports.filling import skipped
from autograder.lms.exports.grade_table import EXCUSED, SUMS, table_row, table_text
from autograder.lms.exports.model import Action, Change, Export, File
from autograder.lms.grades import WAITS
from autograder.lms.model import GradeState
from autograder.lms.sheets import harmless
from autograder.lms.texts import storable
from autograder.scores import NOT_YET, StudentScore

if TYPE_CHECKING:
    from autograder.lms.exports.model import Request
    from autograder.lms.model import Grade

SCORE = "score"
"""The column of the whole score."""


def export(request: Request) -> Export:
    """
    Make the table.

    Parameters
    ----------
    request : Request
        By exercise, each notebook has a column more, with its share of a penalty.

    Returns
    -------
    Export
        One CSV file in UTF-8, and who has no score.
    """
    rows = [_row(request, grade) for grade in request.grades]
    changes = (_change(grade, row[SCORE]) for grade, row in zip(request.grades, rows, strict=True))
    name = f"{request.assignment}.csv"
    return Export(
        files=(File(name=name, data=table_text(rows).encode("utf-8", "replace")),),
        changes=tuple(changes),
        notes=("The table is for people and programs of your own; no LMS is known to take it as it is.",),
    )


def _change(grade: Grade, score: str) -> Change:
    """Return what the table says of a student; what waits for a person has a score here, of what there is."""
    reason = grade.reason if grade.state is not GradeState.GRADED else ""
    if not score:
        return skipped(grade.student, SCORE, "", reason)
    return Change(student=grade.student, column=SCORE, action=Action.APPLIED, after=score, reason=reason)


def _row(request: Request, grade: Grade) -> dict[str, str]:
    row = table_row(_score(grade), _reason(grade))
    if request.by_exercise:
        row |= {f"{part.name} (points)": score_of(request, grade, part.name).text() for part in grade.parts}
    if request.comments:
        row["comment"] = harmless(storable(grade.comment).strip())
    if grade.state is GradeState.EXCUSED:
        row |= dict.fromkeys(set(SUMS) - {"max_score"}, "") | {"state": EXCUSED, "reason": ""}
    elif grade.state is GradeState.MISSING:
        row[SCORE] = score_of(request, grade).text()
    return row


def _score(grade: Grade) -> StudentScore:
    """Return the grade as the gradebook's record, which the table is made of."""
    came = grade.submitted_at is not None or any(cell.has_score for cell in grade.cells)
    return StudentScore(
        student=grade.student,
        first_name=grade.first_name,
        last_name=grade.last_name,
        email=grade.email,
        lms_user_id=grade.lms_user_id,
        submitted=grade.state is GradeState.GRADED or (came and grade.state is not GradeState.MISSING),
        timestamp=grade.submitted_at,
        seconds_late=grade.late_s,
        penalty=grade.penalty,
        cells=grade.cells,
    )


def _reason(grade: Grade) -> str:
    """Return why work could not be graded; what waits for a person is none of that."""
    in_part = grade.reason == NOT_YET and any(cell.has_score for cell in grade.cells)
    return "" if grade.state is not GradeState.UNGRADED or grade.reason == WAITS or in_part else grade.reason
