"""Ways to change what was handed in, and to read what it earned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograder.course.released import grade_id_of
from autograder.notebook import read_notebook, write_notebook

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path

    from autograder.notebook import Notebook
    from autograder.results import GradedSubmission


def scores(graded: GradedSubmission) -> dict[str, Decimal | None]:
    """Return the automatic score of each grade cell."""
    return {cell.grade_id: cell.auto_score for book in graded.result.notebooks for cell in book.cells}


def lost(graded: GradedSubmission) -> set[str]:
    """Return the test cells in which points are lost."""
    cells = (cell for book in graded.result.notebooks for cell in book.cells if not cell.manual)
    return {cell.grade_id for cell in cells if cell.auto_score != cell.max_score}


def cell(notebook: Notebook, grade_id: str) -> dict[str, Any]:
    """Return the cell of a name."""
    return next(cell for cell in notebook["cells"] if grade_id_of(cell) == grade_id)


def change(folder: Path, name: str, grade_id: str, source: str) -> None:
    """Replace a cell's source in a submission."""
    notebook = read_notebook(folder / f"{name}.ipynb")
    cell(notebook, grade_id)["source"] = source
    write_notebook(folder / f"{name}.ipynb", notebook)
