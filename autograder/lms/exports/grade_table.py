"""
Grades as a general CSV table: a row for each student, a column for each graded cell.

Who handed in nothing has empty scores, never zeros, and so has work that could
not be graded, with the reason. Text that a spreadsheet would run as a formula is
made harmless.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from autograder.checks.report import number
from autograder.lms.sheets import harmless
from autograder.notebook import write_text
from autograder.scores import NOT_YET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from autograder.scores import CellScore, StudentScore

WHO = ("student_id", "last_name", "first_name", "email", "lms_user_id", "submitted", "timestamp")
STATE = ("state", "reason")
GRADED, WAITS, NOT_GRADED, UNTRIED, MISSING, EXCUSED = (
    "graded",
    "waits",
    "could not be graded",
    "not graded yet",
    "missing",
    "excused",
)
"""What the column ``state`` may say."""

SUMS = ("raw_score", "late_submission_penalty", "score", "max_score", "seconds_late", "needs_manual_grade")


def write_tables(
    path: Path,
    tables: Mapping[str, Iterable[StudentScore]],
    reasons: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """
    Write the grades of several assignments below each other.

    Parameters
    ----------
    path : Path
        The file, UTF-8; it is written whole or not at all.
    tables : mapping of str to iterable of StudentScore
        For each assignment a row a student; the first column names the assignment.
    reasons : mapping of str to mapping of str to str, optional
        For each assignment, by student, why a submission, or a part of it, could not be graded.
    """
    known = reasons or {}
    _write(
        path,
        [
            {"assignment": harmless(assignment)}
            | table_row(score, known.get(assignment, {}).get(score.student, ""))
            for assignment, scores in tables.items()
            for score in scores
        ],
    )


def table_row(score: StudentScore, reason: str = "") -> dict[str, str]:
    """
    Return a student's row, column by column.

    Parameters
    ----------
    score : StudentScore
        The student's scores.
    reason : str
        Why the submission, or a part of it, could not be graded; empty if it was.

    Returns
    -------
    dict of str to str
        Who, when, the graded cells as ``notebook.grade_id``, and the sums. What
        could not be graded whole has no score: a part of it would be read as all.
    """
    state = _state(score, reason)
    row = {
        "student_id": harmless(score.student),
        "last_name": harmless(score.last_name),
        "first_name": harmless(score.first_name),
        "email": harmless(score.email),
        "lms_user_id": harmless(score.lms_user_id),
        "submitted": _yes(value=state != MISSING),
        "timestamp": score.timestamp.isoformat(sep=" ") + " UTC" if score.timestamp is not None else "",
        "state": state,
        "reason": harmless(" ".join(reason.split())),
    }
    row |= {f"{cell.notebook}.{cell.grade_id}": _cell(score, cell) for cell in score.cells}
    if not score.submitted:
        return row | dict.fromkeys(SUMS, "") | {"max_score": number(score.max_score)}
    any_score = any(cell.has_score for cell in score.cells)
    return row | {
        "raw_score": number(score.raw_score) if any_score else "",
        "late_submission_penalty": number(score.penalty),
        "score": number(score.score) if any_score and state not in {NOT_GRADED, UNTRIED} else "",
        "max_score": number(score.max_score),
        "seconds_late": f"{score.seconds_late:.0f}",
        "needs_manual_grade": _yes(value=score.needs_manual_grade),
    }


def _cell(score: StudentScore, cell: CellScore) -> str:
    return number(cell.score) if cell.has_score and score.submitted else ""


def _state(score: StudentScore, reason: str) -> str:
    if reason == NOT_YET:
        return UNTRIED
    if reason or not score.is_whole:
        return NOT_GRADED
    if not score.submitted:
        return MISSING
    open_cells = score.needs_manual_grade or not all(cell.has_score for cell in score.cells)
    return WAITS if open_cells else GRADED


def _yes(*, value: bool) -> str:
    return "yes" if value else "no"


def table_text(rows: Sequence[Mapping[str, str]]) -> str:
    """
    Return a table as CSV.

    Parameters
    ----------
    rows : sequence of mapping of str to str
        What `table_row` returns, with columns of one's own if one likes.

    Returns
    -------
    str
        Who, what became of it, all other columns in the order in which they come, the sums.
    """
    columns = dict.fromkeys(column for row in rows for column in row)
    cells = [column for column in columns if column not in {"assignment", *WHO, *STATE, *SUMS}]
    first = ["assignment"] if "assignment" in columns else []
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, [*first, *WHO, *STATE, *cells, *SUMS], restval="")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    write_text(path, table_text(rows))
