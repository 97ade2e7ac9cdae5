"""
The cells that nbgrader stored when it built a release.

They are what nbgrader itself grades by: the instructor's sources with hidden
tests, without solutions, and with the tests that nbgrader wrote itself.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from autograder.errors import GradebookError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

CELLS = text("""
    SELECT notebook.name, source_cell.name, source_cell.source, source_cell.cell_type,
           COALESCE(grade_cells.max_score, task_cells.max_score)
    FROM assignment
    JOIN notebook ON notebook.assignment_id = assignment.id
    JOIN source_cell ON source_cell.notebook_id = notebook.id
    LEFT JOIN base_cell ON base_cell.notebook_id = notebook.id AND base_cell.name = source_cell.name
        AND base_cell.type IN ('GradeCell', 'TaskCell')
    LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
    LEFT JOIN task_cells ON task_cells.id = base_cell.id
    WHERE assignment.name = :assignment
""")


@dataclass(frozen=True, slots=True)
class StoredCell:
    """
    A cell as nbgrader stored it.

    Parameters
    ----------
    source : str
        With hidden tests, without a solution.
    cell_type : str
        ``code`` or ``markdown``.
    points : float or None
        What it is worth; None if it is not graded.
    """

    source: str
    cell_type: str
    points: float | None


def stored_cells(db_url: str, assignment: str) -> dict[str, dict[str, StoredCell]]:
    """
    Return the cells of an assignment that a gradebook holds.

    Parameters
    ----------
    db_url : str
        SQLAlchemy's address of the gradebook.
    assignment : str
        The assignment.

    Returns
    -------
    dict of str to dict
        For each notebook the cells by grade_id; empty if there is no gradebook.

    Raises
    ------
    GradebookError
        If the gradebook cannot be read.
    """
    engine = gradebook_engine(db_url)
    if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").is_file():
        # Connecting would make one.
        return {}
    cells: dict[str, dict[str, StoredCell]] = {}
    with gradebook_told(db_url):
        try:
            with engine.connect() as connection:
                rows = connection.execute(CELLS, {"assignment": assignment})
                for notebook, name, source, cell_type, points in rows:
                    cells.setdefault(notebook, {})[name] = StoredCell(source, cell_type, points)
        finally:
            engine.dispose()
    return cells


def gradebook_engine(db_url: str) -> Engine:
    """
    Return SQLAlchemy's engine for a gradebook; nothing is opened yet.

    Parameters
    ----------
    db_url : str
        The address.

    Returns
    -------
    Engine
        The engine.

    Raises
    ------
    GradebookError
        If it is no address.
    """
    try:
        return create_engine(db_url)
    except (ArgumentError, ImportError) as problem:
        # The address is not repeated: it may hold a password.
        what = f"no gradebook can be found by it ({problem})"
        raise GradebookError("CourseDirectory.db_url", what, "Set a database address.") from None


@contextmanager
def gradebook_told(db_url: str) -> Iterator[None]:
    """
    Raise a database's own errors as a GradebookError.

    Parameters
    ----------
    db_url : str
        The gradebook's address.

    Raises
    ------
    GradebookError
        If the database does not answer as a gradebook of nbgrader.
    """
    try:
        yield
    except SQLAlchemyError as problem:
        where = make_url(db_url).render_as_string()
        what = f"the gradebook cannot be read ({type(problem).__name__})"
        raise GradebookError(where, what, "Check that it is nbgrader's.") from problem
