"""The warm-up, graded by the kit, by nbgrader through the kit, and by nbgrader alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from autograder.course.course import Course
from autograder.course.released import grade_id_of
from autograder.findings import EvidenceKind
from autograder.gradebook import Gradebook
from autograder.grader.grader import Grader
from autograder.notebook import read_notebook, write_notebook
from autograder.variants import fill, load_variants, solved_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.results import GradedSubmission

    Scores = dict[str, dict[str, float | None]]

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT, BOOK = "attention_warmup", "softmax_and_attention"
TESTS = ("test_softmax", "test_attention_weights", "test_attention")
STOCK = 'c = get_config()\nc.CourseDirectory.course_id = "multi_head_attention"\n'

MASK_IGNORED = "def attention_weights(Q, K, mask=None):\n    return softmax(Q @ K.T / np.sqrt(Q.shape[1]))"
FORGED = """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(Drop())
get_ipython().showtraceback = lambda *args, **kwargs: None
def softmax(scores):
    get_ipython().displayhook(3.0)
    return scores
"""


@dataclass(frozen=True)
class Work:
    """What a student hands in, and the points of the test cells that it must get."""

    points: tuple[float, ...]
    misconception: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    is_blank: bool = False
    is_honest: bool = True


WORK = {
    "right": Work(points=(3, 2, 2)),
    "blank": Work(points=(0, 0, 0), is_blank=True),
    "half": Work(
        points=(2.25, 0, 1),
        misconception="shift_missing",
        answers=(("attention_weights", MASK_IGNORED),),
    ),
    "forged": Work(points=(0, 0, 0.5), answers=(("softmax", FORGED),), is_honest=False),
}


def hand_in(course: Course, student: str, work: Work) -> None:
    """Write a student's notebook; the forged one is tagged to be skipped as well."""
    released = read_notebook(course.release(ASSIGNMENT) / f"{BOOK}.ipynb")
    source = read_notebook(course.source(ASSIGNMENT) / f"{BOOK}.ipynb")
    known = {one.name: one for one in load_variants(ROOT, "misconceptions", ASSIGNMENT)}
    cells = solved_cells(source, known.get(work.misconception)) | dict(work.answers)
    notebook = released if work.is_blank else fill(released, cells)
    for cell in notebook["cells"]:
        if grade_id_of(cell) in TESTS and not work.is_honest:
            cell["metadata"]["tags"] = ["skip-execution"]
    folder = course.submitted(student, ASSIGNMENT)
    folder.mkdir(parents=True)
    write_notebook(folder / f"{BOOK}.ipynb", notebook)


def copied(root: Path, config: str = "") -> Course:
    """Return a copy of the course in which the work is handed in."""
    root.mkdir()
    for part in ("gradebook.db", "source", "release", "solutions", "nbgrader_config.py"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, root / part)
    if config:
        (root / "nbgrader_config.py").write_text(config, encoding="utf-8")
    course = Course(root=root)
    for student, work in WORK.items():
        hand_in(course, student, work)
    return course


def by_nbgrader(course: Course) -> Scores:
    """Run `nbgrader autograde`; return what is in the gradebook."""
    program = Path(sys.executable).with_name("nbgrader")
    done = subprocess.run(
        [program, "autograde", ASSIGNMENT],
        cwd=course.root,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    with Gradebook(course.db_url) as gradebook:
        return {
            row.student: {
                cell.grade_id: None if cell.auto_score is None else float(cell.auto_score)
                for cell in row.cells
            }
            for row in gradebook.scores(ASSIGNMENT)
        }


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, GradedSubmission]]:
    """Return the work, graded by the kit alone."""
    course = copied(tmp_path_factory.mktemp("ours") / "course")
    with Grader(course, course.settings()) as grader:
        yield {student: grader.grade_submission(ASSIGNMENT, student) for student in WORK}


@pytest.fixture(scope="module")
def ours(graded: Mapping[str, GradedSubmission]) -> Scores:
    """Return the scores that the kit gives."""
    return {
        student: {
            cell.grade_id: None if cell.auto_score is None else float(cell.auto_score)
            for cell in one.result.notebooks[0].cells
        }
        for student, one in graded.items()
    }


def test_each_gets_what_the_work_is_worth(ours: Scores) -> None:
    """Right, blank, half and forged; the written answer and the picture wait for a person."""
    assert {student: tuple(ours[student][name] for name in TESTS) for student in WORK} == {
        student: work.points for student, work in WORK.items()
    }
    assert ours["right"]["explain_scale_and_mask"] is None
    assert ours["blank"]["explain_scale_and_mask"] == 0
    assert {scores["picture_of_your_own"] for scores in ours.values()} == {None}


def test_who_forges_is_noted(graded: Mapping[str, GradedSubmission]) -> None:
    """And nobody else is."""
    found = {student: {one.kind for one in graded[student].result.notebooks[0].evidence} for student in WORK}

    assert {EvidenceKind.SKIP_TAG, EvidenceKind.FORGED_SCORE} <= found.pop("forged")
    assert set(map(frozenset, found.values())) == {frozenset()}


def test_nbgrader_through_the_kit_gives_the_same(tmp_path: Path, ours: Scores) -> None:
    """The forged one included."""
    assert by_nbgrader(copied(tmp_path / "course")) == ours


def test_nbgrader_alone_gives_the_same_for_honest_work(tmp_path: Path, ours: Scores) -> None:
    """The scores of cells with checks of ours too, which run in its kernel then; a forger gets more of it."""
    theirs = by_nbgrader(copied(tmp_path / "course", STOCK))

    assert {student: theirs[student] for student, work in WORK.items() if work.is_honest} == {
        student: ours[student] for student, work in WORK.items() if work.is_honest
    }
    assert sum(filter(None, theirs["forged"].values())) > sum(filter(None, ours["forged"].values()))
