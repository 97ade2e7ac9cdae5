"""Courses of one notebook with test cells as nbgrader has them, and ways to grade what is handed in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autograder.course.course import Course
from autograder.course.released import grade_id_of
from autograder.course.rules import Rules
from autograder.course.settings import load_settings
from autograder.grader.grader import Grader
from autograder.notebook import read_notebook, write_notebook
from autograder.results import GradedSubmission
from autograder.sandbox.sandbox import launched
from autograder.sandbox.wall import Tier, probe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal
    from pathlib import Path

    from autograder.notebook import Cell, Notebook
    from autograder.results import CellResult

Grade = Callable[..., GradedSubmission]

ASSIGNMENT = "classic"
BOOK = "notebook"
RULES = Rules()


def cell(grade_id: str, source: str, cell_type: str = "code", **flags: Any) -> Cell:
    """Return a cell of an instructor's notebook; without a grade_id a plain one."""
    known = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    metadata = {"nbgrader": known | flags | {"grade_id": grade_id}} if grade_id else {}
    made: Cell = {
        "cell_type": cell_type,
        "source": source,
        "metadata": metadata,
        "id": f"id-{grade_id or 'x'}",
    }
    return made | ({"outputs": [], "execution_count": None} if cell_type == "code" else {})


def graded_cell(grade_id: str, source: str, points: float = 2, **more: Any) -> Cell:
    """Return a test cell."""
    return cell(grade_id, source, grade=True, locked=True, points=points, **more)


def answer(grade_id: str, source: str = "raise NotImplementedError()") -> Cell:
    """Return a cell that students write."""
    return cell(grade_id, f"### BEGIN SOLUTION\n{source}\n### END SOLUTION", solution=True)


def notebook_of(cells: Iterable[Cell]) -> Notebook:
    """Return a notebook with these cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": list(cells), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def make_course(root: Path, cells: Iterable[Cell]) -> Course:
    """Make a course with this notebook and its release, without checks and without known solutions."""
    source = notebook_of(cells)
    released = [
        one | {"source": RULES.stub(one["source"], one["cell_type"]) if _is_solution(one) else one["source"]}
        for one in source["cells"]
    ]
    release = notebook_of(one | {"source": RULES.visible(one["source"])} for one in released)
    for folder, notebook in (("source", source), ("release", release)):
        (root / folder / ASSIGNMENT).mkdir(parents=True)
        write_notebook(root / folder / ASSIGNMENT / f"{BOOK}.ipynb", notebook)
    (root / "nbgrader_config.py").write_text("c = get_config()\n", encoding="utf-8")
    return Course(root=root)


def hand_in(course: Course, student: str, answers: Mapping[str, str]) -> None:
    """Hand in the released notebook with these answers by grade_id."""
    released = read_notebook(course.release(ASSIGNMENT) / f"{BOOK}.ipynb")
    notebook = notebook_of(
        one | {"source": answers.get(grade_id_of(one), one["source"])} for one in released["cells"]
    )
    folder = course.submitted(student, ASSIGNMENT)
    folder.mkdir(parents=True)
    write_notebook(folder / f"{BOOK}.ipynb", notebook)


def _is_solution(one: Cell) -> bool:
    return bool(one["metadata"].get("nbgrader", {}).get("solution"))


@contextmanager
def grading(nowhere: Path) -> Iterator[Grade]:
    """
    Give a function that grades a student's submission to a course; all share one sandbox.

    It takes limits other than the usual ones by their names. The folder is one without a course.
    """
    bare = True if probe().tier is Tier.C else None
    settings = load_settings(nowhere, unsafe_no_sandbox=bare)
    with launched(settings, secrets=()) as sandbox:

        def grade(course: Course, student: str, **limits: float) -> GradedSubmission:
            own = replace(settings, **({"wall_time_s": 5.0} | limits))  # type: ignore[arg-type]
            return Grader(course, own, sandbox).grade_submission(ASSIGNMENT, student)

        yield grade


def cells_of(graded: GradedSubmission) -> dict[str, CellResult]:
    """Return the results by grade_id."""
    return {cell.grade_id: cell for book in graded.result.notebooks for cell in book.cells}


def scores(graded: GradedSubmission) -> dict[str, Decimal | None]:
    """Return the scores by grade_id."""
    return {grade_id: one.auto_score for grade_id, one in cells_of(graded).items()}
