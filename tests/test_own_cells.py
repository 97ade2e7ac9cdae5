"""Test cells that an instructor wrote another way than this course does."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from plain_course import take_pictures_out
from submissions import cell, change, scores

from autograder.course.settings import load_settings
from autograder.errors import CheckError
from autograder.grader.grader import Grader
from autograder.notebook import read_notebook, write_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.results import GradedSubmission

    HandIn = Callable[..., Path]
    Grade = Callable[[str], GradedSubmission]

pytestmark = pytest.mark.sandbox

ASSIGNMENT = "multi_head_attention"
SPLIT = "exercise2_split_heads"


@pytest.fixture
def grade(course: Course) -> Iterator[Grade]:
    """Grade a student's submission."""
    take_pictures_out(course, ASSIGNMENT)
    with Grader(course, load_settings(course.root)) as grader:
        yield lambda student: grader.grade_submission(ASSIGNMENT, student)


def rewrite(course: Course, grade_id: str, source: str) -> None:
    """Give a test cell another source; what students got of it stays."""
    path = course.source(ASSIGNMENT) / f"{SPLIT}.ipynb"
    notebook = read_notebook(path)
    cell(notebook, grade_id)["source"] = source
    write_notebook(path, notebook)


HIDDEN = "### BEGIN HIDDEN TESTS\n{lines}\n### END HIDDEN TESTS"


def test_plain_hidden_asserts_are_run(course: Course, grade: Grade, hand_in: HandIn) -> None:
    """Beside student code, as nbgrader does; checks of the same notebook stay outside of it."""
    rewrite(
        course, "test_merge_heads", HIDDEN.format(lines="assert merge_heads(np.ones((2, 5, 3))).ndim == 2")
    )
    hand_in("right")
    change(hand_in("wrong"), SPLIT, "merge_heads", "def merge_heads(heads): return heads")

    assert scores(grade("right"))["test_merge_heads"] == 2
    assert scores(grade("wrong"))["test_merge_heads"] == 0
    assert scores(grade("wrong"))["test_split_heads"] == 3


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('from autograder import run_checks\nrun_checks("test_merge_heads")', "not among its hidden lines"),
        (
            HIDDEN.format(
                lines='assert merge_heads\nfrom autograder import run_checks\nrun_checks("test_merge_heads")'
            ),
            "beside its hidden checks",
        ),
        (HIDDEN.format(lines='run_checks("test_merge_head")'), "Did you mean 'test_merge_heads'"),
        (HIDDEN.format(lines='run_checks("test_split_heads")'), "add up to 3.00 points, the cell has 2"),
    ],
)
def test_a_test_cell_that_would_not_be_graded_as_it_says_is_refused(
    course: Course, grade: Grade, hand_in: HandIn, source: str, message: str
) -> None:
    """Silence would be zero for everybody, or full marks."""
    rewrite(course, "test_merge_heads", source)
    hand_in("ana")

    with pytest.raises(CheckError, match=message):
        grade("ana")


def test_a_test_cell_without_hidden_checks_is_judged_by_its_asserts(
    course: Course, grade: Grade, hand_in: HandIn
) -> None:
    """As nbgrader does: it raises or it does not."""
    for place in (course.source(ASSIGNMENT), course.release(ASSIGNMENT)):
        notebook = read_notebook(place / f"{SPLIT}.ipynb")
        cell(notebook, "test_merge_heads")["source"] = (
            "assert merge_heads(np.zeros((2, 5, 3))).shape == (5, 6)"
        )
        (place / f"{SPLIT}.ipynb").chmod(0o644)
        write_notebook(place / f"{SPLIT}.ipynb", notebook)
    hand_in("right")
    change(hand_in("wrong"), SPLIT, "merge_heads", "def merge_heads(heads): return heads")

    assert scores(grade("right"))["test_merge_heads"] == 2
    assert scores(grade("wrong"))["test_merge_heads"] == 0


def test_a_course_without_known_solutions_is_graded(course: Course, grade: Grade, hand_in: HandIn) -> None:
    """No mistake has a name then; what was seen is told all the same."""
    hand_in("right")
    change(hand_in("wrong"), SPLIT, "merge_heads", "def merge_heads(heads): return heads.sum(axis=0)")
    shutil.rmtree(course.solutions)

    assert scores(grade("right"))["test_merge_heads"] == 2
    graded = grade("wrong")
    found = next(
        cell for book in graded.result.notebooks for cell in book.cells if cell.grade_id == "test_merge_heads"
    )
    assert found.auto_score == 0
    assert {check.misconception for check in found.checks} == {""}
    assert all(check.rationale for check in found.checks)
