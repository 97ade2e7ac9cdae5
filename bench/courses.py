"""Courses to measure: the lesson as it is and without pictures, with right submissions in them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.errors import NotebookError
from autograder.notebook import read_notebook, write_notebook
from autograder.release import build_release
from autograder.variants import fill, solved_cells

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = "multi_head_attention"
PARTS = ("nbgrader_config.py", "gradebook.db", "source", "release", "solutions")
DRAWING = ("matplotlib", "plt.")

STOCK = """
c = get_config()
c.CourseDirectory.course_id = "multi_head_attention"
c.ExecutePreprocessor.timeout = 120
"""
"""A course's configuration without anything of the kit: nbgrader executes and scores by itself."""


def make_course(root: Path, *, pictures: bool) -> Course:
    """
    Make a copy of the course, with nobody in it.

    Parameters
    ----------
    root : Path
        A new folder.
    pictures : bool
        False to leave out the cells that draw, and to build the release anew.

    Returns
    -------
    Course
        The copy.
    """
    root.mkdir(parents=True)
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, root / part)
    course = Course(root=root)
    if not pictures:
        for path in course.source(ASSIGNMENT).glob("*.ipynb"):
            write_notebook(path, without_pictures(read_notebook(path, error=NotebookError)))
        (root / "gradebook.db").unlink()
        build_release(course, ASSIGNMENT)
    return course


def hand_in(course: Course, count: int) -> None:
    """
    Let students hand in the instructor's solutions, all right.

    Parameters
    ----------
    course : Course
        The course.
    count : int
        How many students.
    """
    filled = {}
    for path in sorted(course.release(ASSIGNMENT).glob("*.ipynb")):
        source = read_notebook(course.source(ASSIGNMENT) / path.name, error=NotebookError)
        filled[path.name] = fill(read_notebook(path, error=NotebookError), solved_cells(source))
    for number in range(count):
        folder = course.submitted(f"s{number:05}", ASSIGNMENT)
        folder.mkdir(parents=True)
        for name, notebook in filled.items():
            write_notebook(folder / name, notebook)


def copy_of(course: Course, root: Path, *, stock: bool = False) -> Course:
    """
    Copy a course with its submissions.

    Parameters
    ----------
    course : Course
        The course.
    root : Path
        A new folder.
    stock : bool
        True to configure nothing of the kit in the copy.

    Returns
    -------
    Course
        The copy.
    """
    shutil.copytree(course.root, root, ignore=shutil.ignore_patterns("autograded", "feedback"))
    if stock:
        (root / "nbgrader_config.py").write_text(STOCK, encoding="utf-8")
    return Course(root=root)


def facts(course: Course) -> str:
    """Return what there is in a submission: notebooks, code cells, bytes."""
    paths = sorted(course.release(ASSIGNMENT).glob("*.ipynb"))
    cells = [cell for path in paths for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    code = sum(cell["cell_type"] == "code" for cell in cells)
    return f"{len(paths)} notebooks, {code} code cells"


def without_pictures(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without the cells that draw, and without the import of what draws."""
    cells = []
    for cell in notebook["cells"]:
        lines = cell["source"].split("\n")
        if cell["cell_type"] == "code" and any(sign in cell["source"] for sign in DRAWING):
            if len(lines) > 5:  # noqa: PLR2004 - more than imports: it draws
                continue
            lines = [line for line in lines if not any(sign in line for sign in DRAWING)]
        cells.append(cell | {"source": "\n".join(lines)})
    return notebook | {"cells": cells}
