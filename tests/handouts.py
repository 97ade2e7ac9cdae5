"""The notebooks that students get, and ways to look at them."""

from __future__ import annotations

from pathlib import Path

from autograder.course.course import Course
from autograder.course.released import Kind, ReleasedNotebook, grade_id_of
from autograder.notebook import Cell, Notebook, read_notebook

COURSE = Course(root=Path(__file__).parent.parent)
ASSIGNMENT = "multi_head_attention"
RELEASED = COURSE.released(ASSIGNMENT)
ALL_RELEASED = {
    released.name: (name, released) for name in COURSE.assignments() for released in COURSE.released(name)
}
"""Every notebook of the course with its assignment, by its name."""

SPLIT = next(released for released in RELEASED if released.name == "exercise2_split_heads")


def handed_out(released: ReleasedNotebook) -> Notebook:
    """Return the notebook that students get."""
    assignment, _ = ALL_RELEASED[released.name]
    return read_notebook(COURSE.release(assignment) / f"{released.name}.ipynb")


def filled(released: ReleasedNotebook) -> Notebook:
    """Return it with something in every solution cell."""
    notebook = handed_out(released)
    kinds = {cell.grade_id: cell.kind for cell in released.cells}
    for cell in notebook["cells"]:
        if kinds.get(grade_id_of(cell)) in {Kind.SOLUTION, Kind.MANUAL}:
            cell["source"] = f"my {grade_id_of(cell)} = 1"
    return notebook


def named(notebook: Notebook, grade_id: str) -> Cell:
    """Return the cell of a name."""
    return next(cell for cell in notebook["cells"] if grade_id_of(cell) == grade_id)


def graded_cells(notebook: Notebook) -> list[str]:
    """Return the names of cells with a grade or task flag, in order."""
    flags = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return [flag["grade_id"] for flag in flags if flag.get("grade") or flag.get("task")]
