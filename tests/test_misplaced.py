"""Work in a wrong place is not graded, so somebody must hear of it: what lies where, and where to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from autograder.commands.doctor import Level, examine
from autograder.errors import CourseError
from autograder.grading.choosing import with_work
from autograder.notebook import write_notebook
from autograder.submission.misplaced import misplaced

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

ASSIGNMENT = "multi_head_attention"
BOOK = "exercise1_parameter_count.ipynb"
RIGHT = f"submitted/ana/{ASSIGNMENT}"
EMPTY = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def put(root: Path, path: str) -> None:
    """Write a notebook."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    write_notebook(root / path, EMPTY)


PLACES = {
    f"submitted/ana/{BOOK}": ("submitted/ana", "ana", f"Move it into {RIGHT}."),
    "submitted/ana/exercise1_parameter_count (1).ipynb": ("submitted/ana", "ana", f"Move it into {RIGHT}."),
    f"submitted/ana/Multi_Head_Attention/{BOOK}": (
        "submitted/ana/Multi_Head_Attention",
        "ana",
        f"Rename it to {RIGHT}.",
    ),
    f"submitted/ana/multi_head_attentions/{BOOK}": (
        "submitted/ana/multi_head_attentions",
        "ana",
        f"Rename it to {RIGHT}.",
    ),
    f"submitted/ana/mutli head attention/{BOOK}": (
        "submitted/ana/mutli head attention",
        "ana",
        f"Rename it to {RIGHT}.",
    ),
    f"submitted/{ASSIGNMENT}/ana/{BOOK}": (f"submitted/{ASSIGNMENT}/ana", "ana", f"Move it to {RIGHT}."),
    f"submitted/{BOOK}": ("submitted", "", f"Put each into submitted/<student>/{ASSIGNMENT}."),
}


@pytest.mark.parametrize("path", PLACES)
def test_work_in_a_wrong_place_is_told_with_the_right_one(course: Course, path: str) -> None:
    """Once, with the student if the folder says who it was."""
    put(course.root, path)

    (found,) = misplaced(course, ASSIGNMENT)

    assert (found.where, found.student, found.remedy) == PLACES[path]
    assert str(found).startswith(f"{found.where}: ")


def test_what_counts_beside_it_is_said(course: Course) -> None:
    """Who has the right folder too must not lose what is in it."""
    put(course.root, f"{RIGHT}/{BOOK}")
    put(course.root, f"submitted/ana/{ASSIGNMENT}-2/{BOOK}")
    put(course.root, f"submitted/ana/{ASSIGNMENT}_old/{BOOK}")

    assert [(one.where, one.remedy) for one in misplaced(course, ASSIGNMENT)] == [
        (f"submitted/ana/{ASSIGNMENT}-2", f"Move what counts into {RIGHT}."),
        (f"submitted/ana/{ASSIGNMENT}_old", f"Move what counts into {RIGHT}."),
    ]


@pytest.mark.parametrize(
    "path",
    [
        f"{RIGHT}/{BOOK}",
        f"{RIGHT}/deeper/{BOOK}",
        "submitted/ana/scratch.ipynb",
        "submitted/ana/week2/lab.ipynb",
        f"submitted/ana/.ipynb_checkpoints/{BOOK}",
        f"submitted/.old/ana/{BOOK}",
    ],
)
def test_what_is_right_or_none_of_our_business_is_not_told(course: Course, path: str) -> None:
    """A warning that means nothing hides the next one that does."""
    put(course.root, path)

    assert misplaced(course, ASSIGNMENT) == []


def test_another_assignment_is_not_a_misspelt_one(course: Course) -> None:
    """Sheet 2 is near sheet 1 in letters only."""
    for name in ("sheet1", "sheet2", "sheets"):
        put(course.root, f"source/{name}/lab.ipynb")
    put(course.root, "submitted/ana/sheet2/lab.ipynb")
    put(course.root, "submitted/ana/sheet11/lab.ipynb")
    put(course.root, "submitted/ben/sheets/lab.ipynb")
    put(course.root, "submitted/eve/Sheet 1/lab.ipynb")

    assert [one.where for one in misplaced(course, "sheet1")] == ["submitted/eve/Sheet 1"]


def test_links_are_not_followed(course: Course, tmp_path: Path) -> None:
    """They may lead anywhere."""
    put(tmp_path, f"elsewhere/{BOOK}")
    (course.root / "submitted").mkdir()
    (course.root / "submitted" / "ana").symlink_to(tmp_path / "elsewhere", target_is_directory=True)

    assert misplaced(course, ASSIGNMENT) == []


def test_a_course_with_assignments_first_is_told_in_its_own_order(course: Course) -> None:
    """The right place is the one of the course's own layout."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(
            'c.CourseDirectory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"\n'
        )
    put(course.root, f"submitted/{ASSIGNMENT}/ana/{BOOK}")
    assert misplaced(course, ASSIGNMENT) == []

    put(course.root, f"submitted/{ASSIGNMENT}/{BOOK}")
    put(course.root, f"submitted/Multi-Head-Attention/ben/{BOOK}")
    put(course.root, f"submitted/eve/{ASSIGNMENT}/{BOOK}")

    assert [(one.where, one.remedy) for one in misplaced(course, ASSIGNMENT)] == [
        ("submitted/Multi-Head-Attention", f"Move what counts into submitted/{ASSIGNMENT}."),
        (f"submitted/eve/{ASSIGNMENT}", f"Move it to submitted/{ASSIGNMENT}/eve."),
        (f"submitted/{ASSIGNMENT}", f"Move it into submitted/{ASSIGNMENT}/<student>."),
    ]


def test_doctor_tells_of_misplaced_work(course: Course) -> None:
    """It is what one asks when somebody's work is missing."""
    put(course.root, f"submitted/ana/Multi_Head_Attention/{BOOK}")

    found = [one for one in examine(course.root) if "Multi_Head_Attention" in one.text]

    assert [(one.name, one.level) for one in found] == [(ASSIGNMENT, Level.NOTE)]
    assert found[0].remedy == f"Rename it to {RIGHT}."


@pytest.mark.parametrize("count", [1, 3])
def test_a_class_that_is_all_in_a_wrong_place_is_told_so(course: Course, count: int) -> None:
    """Not that nothing was handed in."""
    for number in range(count):
        put(course.root, f"submitted/s{number}/{BOOK}")

    with pytest.raises(CourseError) as raised:
        with_work(course, [ASSIGNMENT])

    assert str(raised.value).startswith(f"submitted/s0: {BOOK} lies right in the student's folder")
    assert ("2 more" in str(raised.value)) == (count == 3)
    assert raised.value.remedy == f"Move it into submitted/s0/{ASSIGNMENT}."
