"""
Grades as a general CSV table: a row for each student, a column for each graded cell.

Who handed in nothing has empty scores, never zeros. Text that a spreadsheet
would run as a formula is made harmless.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from autograder.checks.report import number
from autograder.notebook import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from autograder.scores import CellScore, StudentScore

WHO = ("student_id", "last_name", "first_name", "email", "lms_user_id", "submitted", "timestamp")
SUMS = ("raw_score", "late_submission_penalty", "score", "max_score", "seconds_late", "needs_manual_grade")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(path: Path, scores: Iterable[StudentScore]) -> None:
    """
    Write the grades of one assignment.

    Parameters
    ----------
    path : Path
        The file, UTF-8; it is written whole or not at all.
    scores : iterable of StudentScore
        A row each.
    """
    rows = [table_row(score) for score in scores]
    _write(path, rows)


def write_tables(path: Path, tables: Mapping[str, Iterable[StudentScore]]) -> None:
    """
    Write the grades of several assignments below each other.

    Parameters
    ----------
    path : Path
        The file, UTF-8; it is written whole or not at all.
    tables : mapping of str to iterable of StudentScore
        For each assignment a row a student; the first column names the assignment.
    """
    _write(
        path,
        [
            {"assignment": guarded(assignment)} | table_row(score)
            for assignment, scores in tables.items()
            for score in scores
        ],
    )


def table_row(score: StudentScore) -> dict[str, str]:
    """
    Return a student's row, column by column.

    Parameters
    ----------
    score : StudentScore
        The student's scores.

    Returns
    -------
    dict of str to str
        Who, when, the graded cells as ``notebook.grade_id``, and the sums.
    """
    row = {
        "student_id": guarded(score.student),
        "last_name": guarded(score.last_name),
        "first_name": guarded(score.first_name),
        "email": guarded(score.email),
        "lms_user_id": guarded(score.lms_user_id),
        "submitted": _yes(value=score.submitted),
        "timestamp": score.timestamp.isoformat(sep=" ") + " UTC" if score.timestamp is not None else "",
    }
    row |= {f"{cell.notebook}.{cell.grade_id}": _cell(score, cell) for cell in score.cells}
    if not score.submitted:
        return row | dict.fromkeys(SUMS, "") | {"max_score": number(score.max_score)}
    return row | {
        "raw_score": number(score.raw_score),
        "late_submission_penalty": number(score.penalty),
        "score": number(score.score),
        "max_score": number(score.max_score),
        "seconds_late": f"{score.seconds_late:.0f}",
        "needs_manual_grade": _yes(value=score.needs_manual_grade),
    }


def guarded(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that could gets a leading apostrophe."""
    return f"'{text}" if text.lstrip().startswith(FORMULA) or text.startswith(FORMULA) else text


def _cell(score: StudentScore, cell: CellScore) -> str:
    waits = cell.auto_score is None and cell.manual_score is None
    return "" if waits or not score.submitted else number(cell.score)


def _yes(*, value: bool) -> str:
    return "yes" if value else "no"


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    columns = dict.fromkeys(column for row in rows for column in row)
    cells = [column for column in columns if column not in {"assignment", *WHO, *SUMS}]
    first = ["assignment"] if "assignment" in columns else []
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, [*first, *WHO, *cells, *SUMS], restval="")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, stream.getvalue())
