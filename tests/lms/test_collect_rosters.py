"""What a roster leaves behind: numbers of another site are not remembered, and wrong ones can be replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from collect_courses import (
    ASSIGNMENT,
    FIRST,
    ROSTER,
    collect,
    download,
    light_course,
    roster,
    submitted,
    upload,
)

from autograder.gradebook import Gradebook
from autograder.lms.model import IdKind, Lms, Person

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

NOTEBOOK = f"{FIRST}.ipynb"
RIGHT = {"aruiz": "501", "blind": "502", "jmuller": "503"}
WRONG = {student: f"9{number[1:]}" for student, number in RIGHT.items()}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with nobody in it."""
    return light_course(tmp_path / "course")


def numbers(course: Course, lms: Lms = Lms.CANVAS) -> dict[str, str]:
    """Return by student Canvas's number, as the gradebook has it."""
    with Gradebook(course.db_url) as gradebook:
        return {one.student: one.ids[IdKind.USER] for one in gradebook.people() if one.lms == lms}


def wrong_roster(path: Path) -> Path:
    """Write a roster of the same people on another site, where they have other numbers."""
    path.write_text(ROSTER.replace(",50", ",90"), encoding="utf-8")
    return path


def test_a_roster_that_fits_nothing_is_not_remembered(course: Course, tmp_path: Path) -> None:
    """Its numbers would keep the right ones out: the right roster works afterwards."""
    work = download(tmp_path / "a.zip", upload("501", 1, b"a"), upload("502", 2, b"b"))
    code, told = collect(course, work, "--roster", wrong_roster(tmp_path / "wrong.csv"))

    assert (code, numbers(course), submitted(course)) == (1, {}, {})
    assert "nobody in it has handed in here" in told
    assert "new in the gradebook" not in told
    assert collect(course, work, "--roster", roster(tmp_path))[0] == 0
    assert numbers(course) == RIGHT


def test_a_roster_beside_nothing_is_remembered(course: Course, tmp_path: Path) -> None:
    """There is nothing that it could fit."""
    (tmp_path / "down").mkdir()

    collect(course, tmp_path / "down", ASSIGNMENT, "--from", "canvas", "--roster", roster(tmp_path))
    assert numbers(course) == RIGHT


def test_numbers_that_are_wrong_can_be_replaced(course: Course, tmp_path: Path) -> None:
    """However they came in; each is told, nbgrader's column changes too, and work finds its owners."""
    kinds = IdKind.LOGIN, IdKind.USER
    with Gradebook(course.db_url) as gradebook:
        gradebook.enroll_people(
            [
                Person(lms=Lms.CANVAS, student=one[0], ids=dict(zip(kinds, one, strict=True)))
                for one in WRONG.items()
            ]
        )
    words = download(tmp_path / "a.zip", upload("501", 1, b"a")), "--roster", roster(tmp_path)

    code, told = collect(course, *words)
    assert (code, numbers(course), submitted(course)) == (1, WRONG, {})
    assert "--force" in told
    code, told = collect(course, *words, "--force")
    assert (code, numbers(course), numbers(course, Lms.PLAIN)) == (0, RIGHT, RIGHT)
    assert "Canvas's number of aruiz is 501 now, not 901" in told
    assert submitted(course) == {"aruiz": {NOTEBOOK: b"a"}}
    assert "1 unchanged" in collect(course, *words)[1]


def test_a_number_that_is_another_students_id_moves_no_work(course: Course, tmp_path: Path) -> None:
    """Canvas knows no addresses: the name alone says that 501 in the course is somebody else."""
    known = tmp_path / "known.csv"
    known.write_text("id,first_name,last_name,email,lms_user_id\n501,Yan,Young,y@example.edu,\n")
    work = download(tmp_path / "a.zip", upload("501", 1, b"ana's"), upload("502", 2, b"bo's"))
    code, told = collect(course, work, "--roster", known, "--roster", roster(tmp_path))

    assert (code, submitted(course)) == (1, {"blind": {NOTEBOOK: b"bo's"}})
    assert "who is called Yan Young" in told
