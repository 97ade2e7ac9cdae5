"""The command `feedback`: a class at once, in several processes, and released by nbgrader."""

from __future__ import annotations

import csv
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_course import ASSIGNMENT, grade, make_course, read_page

from autograder import publishing
from autograder.commands.exporting import Asked, export_grades
from autograder.errors import SubmissionError
from autograder.gradebook import Gradebook
from autograder.gradebook.records import Record
from autograder.notebook import read_notebook, write_notebook
from autograder.publishing import publish_feedback, publish_report

if TYPE_CHECKING:
    from autograder.course.course import Course

ROOT = Path(__file__).resolve().parents[1]
STUDENTS = ("ana", "ben", "cleo", "dov")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a small course with four graded students."""
    course = make_course(tmp_path / "course")
    shutil.copyfile(ROOT / "gradebook.db", course.gradebook)
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute(
            "INSERT INTO assignment (id, name, course_id) SELECT 'small', ?, id FROM course", (ASSIGNMENT,)
        )
    for student in STUDENTS:
        grade(course, student)
    return course


def pages(course: Course) -> dict[str, bytes]:
    """Return what was written, by path."""
    folder = course.root / "feedback"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.html")}


def test_several_processes_write_what_one_writes(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same pages, whoever writes them."""
    here = publish_feedback(course, ASSIGNMENT, STUDENTS)
    alone = pages(course)
    shutil.rmtree(course.root / "feedback")
    monkeypatch.setattr(publishing, "_GROUP", 1)
    monkeypatch.setattr(publishing, "_GROUPS_FOR_A_PROCESS", 2)

    there = publish_feedback(course, ASSIGNMENT, STUDENTS, jobs=2)

    assert there == here
    assert list(there) == list(STUDENTS)
    assert pages(course) == alone
    assert len(alone) == 3 * len(STUDENTS)


@pytest.mark.parametrize("broken", [("ben",), ("ben", "dov")])
def test_who_cannot_be_read_costs_nobody_else_the_feedback(course: Course, broken: tuple[str, ...]) -> None:
    """It is told at the end, with the first of them by name."""
    for student in broken:
        path = course.autograded(student, ASSIGNMENT) / "first.ipynb"
        notebook = read_notebook(path)
        del notebook["metadata"]["autograder"]
        write_notebook(path, notebook)

    with pytest.raises(SubmissionError, match=r"ben.*first\.ipynb"):
        publish_feedback(course, ASSIGNMENT, STUDENTS)

    assert {name.split("/")[0] for name in pages(course)} == set(STUDENTS) - set(broken)


def test_who_could_not_be_graded_is_in_the_table_and_in_the_report(course: Course) -> None:
    """Though the gradebook has no row of theirs: a student who is not in the table is forgotten."""
    with Gradebook(course.db_url) as gradebook:
        gradebook.store_failures(
            ASSIGNMENT, {"eva": Record("", "the disk is full. Make room.", graded=False)}
        )
    course.submitted("fay", ASSIGNMENT).mkdir(parents=True)

    table = export_grades(course, ASSIGNMENT, Asked(format="csv")).path
    report = publish_report(course, ASSIGNMENT)

    with table.open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert list(rows) == [*STUDENTS, "eva", "fay"]
    assert (rows["eva"]["state"], rows["eva"]["reason"]) == (
        "could not be graded",
        "the disk is full. Make room.",
    )
    assert (rows["fay"]["state"], rows["fay"]["first.test_double"]) == ("not graded yet", "")
    assert {row["score"] for row in rows.values()} == {""}
    words = " ".join(read_page(report).words.split())
    assert "eva the disk is full. Make room. fay handed in, but not graded yet" in words


@pytest.mark.slow
def test_nbgrader_releases_the_pages(course: Course, tmp_path: Path) -> None:
    """A submission that came through nbgrader's exchange goes back through it, a page for each notebook."""
    for name, text in {"timestamp.txt": "2026-03-02 18:00:00 UTC", "submission_secret.txt": "abc"}.items():
        (course.autograded("ana", ASSIGNMENT) / name).write_text(text, encoding="utf-8")
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    publish_feedback(course, ASSIGNMENT, ["ana"])
    command = [
        *(sys.executable, f"{sysconfig.get_path('scripts')}/nbgrader", "release_feedback", ASSIGNMENT),
        *(f"--course-dir={course.root}", "--course=c101", f"--Exchange.root={exchange}"),
    ]

    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=course.root)

    assert done.returncode == 0, done.stderr
    released = {path.read_bytes() for path in exchange.rglob("*.html")}
    assert {text for name, text in pages(course).items() if name.startswith("ana/")} == released
