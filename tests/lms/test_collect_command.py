"""The command `collect`: what it asks for, what it refuses, and what it prints for machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from collect_courses import (
    ASSIGNMENT,
    FIRST,
    LOCK,
    collect,
    download,
    everything,
    light_course,
    roster,
    submitted,
    upload,
)
from crafted_zips import zip_bytes

from autograder.cli import main
from autograder.lms.collecting.writing import alone

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

NOTEBOOK = f"{FIRST}.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with nobody in it."""
    return light_course(tmp_path / "course")


def test_machines_are_told_all(course: Course, tmp_path: Path) -> None:
    """One document on standard output: each student, what was not collected and why, who is new."""
    uploads = (upload("501", 8801, b"x"), upload("502", 8802, b"y", late=True), {"notes.txt": b"z"})
    words = [
        "collect",
        str(download(tmp_path / "a.zip", *uploads)),
        "--roster",
        str(roster(tmp_path)),
        "--json",
    ]
    done = CliRunner().invoke(main, [*words, "--course-dir", str(course.root)])
    told = json.loads(done.stdout)

    assert done.exit_code == 1
    assert (told["assignment"], told["dry_run"], told["new_students"]) == (
        ASSIGNMENT,
        False,
        ["aruiz", "blind", "jmuller"],
    )
    assert [one["name"] for one in told["not_collected"]] == ["notes.txt"]
    assert told["students"][1] == {
        "student": "blind",
        "action": "new",
        "lms": "canvas",
        "archive": "a.zip",
        "key": "lindqvistbo_LATE_502",
        "files": [NOTEBOOK],
        "submitted_at": None,
        "late": True,
        "seconds_late": None,
        "disagreement": "late for Canvas, which does not say when; a penalty needs a time in timestamp.txt",
    }


def test_the_assignment_need_not_be_named_if_there_is_no_doubt(tmp_path: Path) -> None:
    """One only, or one only that has such notebooks, which is told; else nobody guesses."""
    both = light_course(tmp_path / "both", assignments=(ASSIGNMENT, "attention_warmup"))
    words = ("--roster", roster(tmp_path))
    code, told = collect(both, download(tmp_path / "a.zip", upload("501", 1, b"x")), *words)
    assert code == 0
    assert f"only {ASSIGNMENT} has notebooks that are called so" in told
    code, told = collect(both, download(tmp_path / "b.zip", upload("501", 2, b"x", "mine.ipynb")), *words)
    assert code == 2
    assert "Name the assignment" in told
    assert collect(both, tmp_path / "b.zip", ASSIGNMENT, "--force")[0] == 0
    code, told = collect(both, tmp_path / "b.zip", "attention_warmap")
    assert (code, "attention_warmup" in told) == (2, True)
    assert collect(both, ASSIGNMENT)[0] == 2


def test_one_students_file_is_not_everybodys_assignment(tmp_path: Path) -> None:
    """Most students tell which it is, also by what they have packed; if it is close, somebody is asked."""
    both = light_course(tmp_path / "both", assignments=(ASSIGNMENT, "attention_warmup"))
    stray = upload("503", 3, b"m", "softmax_and_attention.ipynb")
    mine, yours = (upload(user, int(user), zip_bytes({NOTEBOOK: b"x"}), "hw.zip") for user in ("501", "502"))
    words = ("--roster", roster(tmp_path))

    code, told = collect(both, download(tmp_path / "half.zip", mine, stray), *words)
    assert (code, "Name the assignment" in told) == (2, True)
    code, told = collect(both, download(tmp_path / "most.zip", mine, yours, stray), *words)
    assert code == 0
    assert f"2 of 3 students have notebooks of {ASSIGNMENT}" in told
    assert set(submitted(both)) == {"aruiz", "blind", "jmuller"}
    assert not both.layout.students_in("submitted", "attention_warmup")  # type: ignore[arg-type] # a step is its name


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["{zip}", "--from", "moodle"], "not collected"),
        (["{zip}", "--zone", "Europe/Nowhere"], "there is no zone"),
        (["{csv}"], "neither a zip nor a tar nor a folder"),
        (["{zip}", "--roster", "{zip}"], "error"),
        (["absent.zip"], "there is no such file"),
    ],
)
def test_wrong_use_is_one_line(course: Course, tmp_path: Path, words: list[str], told: str) -> None:
    """It says what is wrong, and nothing is written."""
    path = download(tmp_path / "a.zip", upload("501", 8801, b"x"))
    files = {"{zip}": path, "{csv}": roster(tmp_path)}
    before = everything(course.root)
    code, output = collect(course, *(files.get(word, word) for word in words))

    assert code in {1, 2}
    assert told in output
    after = {name: one for name, one in everything(course.root).items() if name not in {".autograder", LOCK}}
    assert after == {name: one for name, one in before.items() if name != ".autograder"}


def test_a_course_may_have_a_layout_of_its_own(course: Course, tmp_path: Path) -> None:
    """Folders are where nbgrader looks for them."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(
            "c.CourseDirectory.directory_structure = '{assignment_id}/{nbgrader_step}/{student_id}'\n"
        )
        config.write("c.CourseDirectory.submitted_directory = 'handed in'\n")
    (course.root / "source" / ASSIGNMENT).rename(course.root / "moved")
    (course.root / ASSIGNMENT).mkdir()
    (course.root / ASSIGNMENT / "source").mkdir()
    (course.root / "moved").rename(course.root / ASSIGNMENT / "source" / ".")
    path = download(tmp_path / "a.zip", upload("501", 8801, b"x"))

    assert collect(course, path, ASSIGNMENT, "--roster", roster(tmp_path))[0] == 0
    assert (course.root / ASSIGNMENT / "handed in" / "aruiz" / NOTEBOOK).read_bytes() == b"x"


def test_two_do_not_collect_at_once(course: Course, tmp_path: Path) -> None:
    """The second says so and writes nothing; a dry run need not wait."""
    words = (download(tmp_path / "a.zip", upload("501", 8801, b"x")), "--roster", roster(tmp_path))
    with alone(course.root):
        code, told = collect(course, *words)
        assert (code, submitted(course)) == (1, {})
        assert "another process is collecting" in told
        assert collect(course, *words, "--dry-run")[0] == 0
    assert collect(course, *words)[0] == 0
