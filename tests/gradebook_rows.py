"""A gradebook's rows without what differs from one to the next: random ids."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = {
    "course": "SELECT id FROM course",
    "assignment": "SELECT name, duedate, course_id FROM assignment",
    "notebook": """SELECT assignment.name, notebook.name, kernelspec
        FROM notebook JOIN assignment ON assignment.id = assignment_id""",
    "cells": """SELECT notebook.name, base_cell.name, base_cell.type, grade_cells.max_score,
            grade_cells.cell_type, task_cells.max_score
        FROM base_cell JOIN notebook ON notebook.id = notebook_id
        LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
        LEFT JOIN task_cells ON task_cells.id = base_cell.id""",
    "source_cell": """SELECT notebook.name, source_cell.name, cell_type, locked, source, checksum
        FROM source_cell JOIN notebook ON notebook.id = notebook_id""",
    "student": "SELECT id, first_name, last_name, email, lms_user_id FROM student",
    "submitted_assignment": """SELECT name, student_id, timestamp, extension
        FROM submitted_assignment JOIN assignment ON assignment.id = assignment_id""",
    "submitted_notebook": """SELECT student_id, notebook.name, flagged, late_submission_penalty
        FROM submitted_notebook JOIN notebook ON notebook.id = notebook_id
        JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id""",
    "grade": """SELECT student_id, base_cell.name, auto_score, manual_score, extra_credit, needs_manual_grade
        FROM grade JOIN base_cell ON base_cell.id = cell_id
        JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
        JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id""",
    "comment": """SELECT student_id, base_cell.name, base_cell.type, auto_comment, manual_comment
        FROM comment JOIN base_cell ON base_cell.id = cell_id
        JOIN submitted_notebook ON submitted_notebook.id = comment.notebook_id
        JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id""",
    "alembic_version": "SELECT version_num FROM alembic_version",
}


def gradebook_rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """
    Return what a gradebook holds, table by table, names in place of ids.

    Parameters
    ----------
    path : Path
        An SQLite gradebook.

    Returns
    -------
    dict of str to list of tuple
        Sorted rows. nbgrader's placeholder course is left out.
    """
    with closing(sqlite3.connect(path)) as connection:
        rows = {name: sorted(connection.execute(query), key=repr) for name, query in QUERIES.items()}
    rows["course"] = [row for row in rows["course"] if row != ("default_course",)]
    return rows
