"""Scores as they are told, from the gradebook's rows."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from autograder.gradebook.values import decimal
from autograder.scores import CellScore, StudentScore

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.engine import Row

    from autograder.gradebook.database import Database


def grades_of(
    database: Database, connection: Connection, assignment: str
) -> tuple[dict[str, dict[str, Row[Any]]], dict[str, Decimal]]:
    """Return grades by submission and cell, and penalties by submission, in two queries."""
    submission, book, grade = map(database.table, ("submitted_assignment", "submitted_notebook", "grade"))
    joined = book.join(submission, submission.c.id == book.c.assignment_id)
    mine = submission.c.assignment_id == assignment
    owner: dict[str, str] = {}
    penalties: dict[str, Decimal] = {}
    for row in connection.execute(select(book).select_from(joined).where(mine)):
        owner[row.id] = row.assignment_id
        penalty = decimal(row.late_submission_penalty) or Decimal(0)
        penalties[row.assignment_id] = penalties.get(row.assignment_id, Decimal(0)) + penalty
    grades: dict[str, dict[str, Row[Any]]] = {}
    query = select(grade).select_from(grade.join(joined, book.c.id == grade.c.notebook_id)).where(mine)
    for row in connection.execute(query):
        grades.setdefault(owner[row.notebook_id], {})[row.cell_id] = row
    return grades, penalties


def cell_score(
    cell: tuple[str, str], points: Decimal | int, grade: Row[Any] | None, *, manual: bool
) -> CellScore:
    """Return what a cell, told by notebook and name, has earned; nothing without a grade."""
    empty = CellScore(notebook=cell[0], grade_id=cell[1], max_score=Decimal(points), manual=manual)
    if grade is None:
        return empty
    return replace(
        empty,
        auto_score=decimal(grade.auto_score),
        manual_score=decimal(grade.manual_score),
        extra_credit=decimal(grade.extra_credit),
        needs_manual_grade=bool(grade.needs_manual_grade),
    )


def student_score(
    student: Row[Any], submission: Row[Any] | None, cells: tuple[CellScore, ...], late: tuple[float, Decimal]
) -> StudentScore:
    """Return what a student has earned, with how late it was in seconds and the penalty."""
    return StudentScore(
        student=student.id,
        first_name=student.first_name or "",
        last_name=student.last_name or "",
        email=student.email or "",
        lms_user_id=student.lms_user_id or "",
        submitted=submission is not None,
        timestamp=submission.timestamp if submission is not None else None,
        seconds_late=late[0],
        penalty=late[1],
        cells=cells,
    )
