"""Grades wrong solutions with forgeries, as whoever runs it and behind the wall it is given."""

from __future__ import annotations

import copy
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attacks.forgeries import FORGERIES, NOTHING, TESTS, WRONG, Forgery

from autograder.course.course import Course
from autograder.course.released import grade_id_of
from autograder.course.settings import load_settings
from autograder.grader.grader import Grader
from autograder.notebook import read_notebook, write_notebook
from autograder.sandbox.sandbox import Sandbox
from autograder.variants import fill
from bench.courses import without_pictures

if TYPE_CHECKING:
    from autograder.notebook import Cell, Notebook
    from autograder.sandbox.wall import Wall

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT, NAME = "multi_head_attention", "exercise2_split_heads"
_PARTS = ("nbgrader_config.py", "source", "release", "solutions")
_WALL_TIME_S = 1.0
# Some forgeries cost a new process for every check; this ends them.
_NOTEBOOK_TIME_S = 3.0
_PATIENCE_S = 60.0


class Forger:
    """
    Hands in forged notebooks and tells what they score.

    Parameters
    ----------
    wall : Wall
        What stands around student code.
    folder : Path
        Where a copy of the course is made.
    """

    def __init__(self, wall: Wall, folder: Path) -> None:
        root = folder / "course"
        root.mkdir()
        for part in _PARTS:
            copy_ = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
            copy_(ROOT / part, root / part)
        course = Course(root=root)
        for place in (course.source(ASSIGNMENT), course.release(ASSIGNMENT)):
            # Some forgeries cost a new process for every check, and each would draw the lesson's pictures:
            # then its time is up before anything is judged.
            path = place / f"{NAME}.ipynb"
            write_notebook(path, without_pictures(read_notebook(path)))
        settings = load_settings(root, wall_time_s=_WALL_TIME_S, notebook_time_s=_NOTEBOOK_TIME_S)
        self.files = folder / "beside"
        # This wall, not the best one.
        self.grader = Grader(course, settings, Sandbox(wall, folder, secrets=[root]))
        self.short = self.grader.limits
        self.blank = fill(read_notebook(course.release(ASSIGNMENT) / f"{NAME}.ipynb"), WRONG)

    def close(self) -> None:
        """End the grader."""
        self.grader.close()

    def score(self, name: str) -> dict[str, Any]:
        """Return what a forgery scores in each test cell, and what people would read."""
        forgery = FORGERIES[name]
        shutil.rmtree(self.files, ignore_errors=True)
        self.files.mkdir()
        for path, text in forgery.files.items():
            (self.files / path).write_text(text, encoding="utf-8")
        # What all are compared with must be judged, however busy the machine is.
        patient = replace(self.short, wall_time_s=_PATIENCE_S, notebook_time_s=_PATIENCE_S)
        self.grader.limits = self.short if name != NOTHING else patient
        graded = self.grader.grade_notebook(
            ASSIGNMENT, NAME, student="eve", notebook=_forged(self.blank, forgery), files=(self.files,)
        )
        cells = graded.result.cells
        texts = [text for cell in cells for check in cell.checks for text in (check.rationale, check.error)]
        return {
            "scores": {cell.grade_id: str(cell.auto_score) for cell in cells if not cell.manual},
            "texts": texts,
            "evidence": sorted({f"{one.kind} {one.severity}" for one in graded.result.evidence}),
        }


def _forged(blank: Notebook, forgery: Forgery) -> Notebook:
    notebook = copy.deepcopy(blank)
    notebook["metadata"] |= forgery.metadata
    for cell in notebook["cells"]:
        grade_id = grade_id_of(cell)
        if grade_id in WRONG and forgery.returns:
            cell["source"] += _instead(grade_id, forgery.returns)
        if grade_id in TESTS:
            cell["metadata"] |= forgery.test_metadata
            cell["source"] = forgery.test_source or cell["source"]
            cell["outputs"] = forgery.test_outputs or cell["outputs"]
    first = "import numpy as np\n" + forgery.first
    notebook["cells"] = [_cell("first", first), *notebook["cells"], _cell("last", forgery.last)]
    return notebook


def _instead(name: str, expression: str) -> str:
    return (
        f"\n_wrong_{name} = {name}\n"
        f"def {name}(*args):\n"
        f"    SELF, wrong = {name}, _wrong_{name}(*args)\n"
        f"    return {expression}\n"
    )


def _cell(name: str, source: str) -> Cell:
    cell: Cell = {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}}
    return cell | {"outputs": [], "source": source}
