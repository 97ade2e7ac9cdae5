"""Test cells that an instructor wrote another way than this course does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from submissions import cell, change, scores

from autograder.errors import CheckError
from autograder.grader import Grader
from autograder.notebook import read_notebook, write_notebook
from autograder.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from autograder.course import Course
    from autograder.results import GradedSubmission

    HandIn = Callable[..., Path]
    Grade = Callable[[str], GradedSubmission]

pytestmark = pytest.mark.sandbox

ASSIGNMENT = "multi_head_attention"
SPLIT = "exercise2_split_heads"


@pytest.fixture
def grade(course: Course) -> Iterator[Grade]:
    """Grade a student's submission."""
    with Grader(course, load_settings(course.root)) as grader:
        yield lambda student: grader.grade_submission(ASSIGNMENT, student)


def test_plain_hidden_asserts_are_refused(course: Course, grade: Grade, hand_in: HandIn) -> None:
    """They would have to run beside student code, or be left out in silence."""
    hand_in("ana")
    path = course.source(ASSIGNMENT) / f"{SPLIT}.ipynb"
    notebook = read_notebook(path)
    test = cell(notebook, "test_merge_heads")
    test["source"] = "### BEGIN HIDDEN TESTS\nassert merge_heads is not None\n### END HIDDEN TESTS"
    write_notebook(path, notebook)

    with pytest.raises(CheckError, match="run_checks"):
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
