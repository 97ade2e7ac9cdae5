"""`autograder feedback --zip`: the pages just written, packed for the LMS that the work came from."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from canvas_reupload import CanvasAssignment, upload
from click.testing import CliRunner, Result
from course_copies import ROOT
from small_course import ASSIGNMENT, Page, assert_harmless, grade, lose_second, make_course

from autograder.cli import USAGE, main
from autograder.gradebook import Gradebook
from autograder.lms.collecting.record import Collected, CollectedFile, Record, save_record
from autograder.lms.model import IdKind, Lms, Person

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from autograder.course.course import Course

USERS = {"ana": "501", "ben": "502", "cleo": "503", "dora": "504"}


def from_canvas(student: str, *names: str) -> Collected:
    """Return what collecting a student's files from Canvas records."""
    user = USERS[student]
    files = tuple(
        CollectedFile(
            path=name, entry=f"{student}_{user}_{7000 + int(user) * 10 + at}_{name}", size=1, sha256="0" * 64
        )
        for at, name in enumerate(names)
    )
    ids = {IdKind.USER: user}
    return Collected(
        student=student,
        lms=Lms.CANVAS,
        archive="submissions.zip",
        key=f"{student}_{user}",
        ids=ids,
        files=files,
    )


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course in which three students are graded, and three were collected from Canvas."""
    course = make_course(tmp_path / "course")
    shutil.copyfile(ROOT / "gradebook.db", course.gradebook)
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute(
            "INSERT INTO assignment (id, name, course_id) SELECT 'small', ?, id FROM course", (ASSIGNMENT,)
        )
    for student in ("ana", "ben", "cleo"):
        grade(course, student)
    lose_second(course, "ben")
    students = {
        "ana": from_canvas("ana", "first.ipynb", "second.ipynb"),
        "ben": from_canvas("ben", "first.ipynb"),
        "dora": from_canvas("dora", "first.ipynb"),
    }
    save_record(course.root, Record(assignment=ASSIGNMENT, students=students))
    return course


def feedback(course: Course, *options: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["feedback", ASSIGNMENT, *options, "--course-dir", str(course.root)])


def entries(path: Path) -> Mapping[str, bytes]:
    """Return what is in a zip."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_each_student_finds_their_own_pages(course: Course) -> None:
    """Canvas gives each notebook's page to who handed it in; who was not collected there is told."""
    done = feedback(course, "--zip", "canvas")

    assert done.exit_code == 0, done.output
    files = entries(course.root / "exports" / f"{ASSIGNMENT}-feedback-canvas.zip")
    numbers = {(name.split("_")[1], name.split("_")[2]): name.split("_", 3)[3] for name in files}
    comments = upload(files, CanvasAssignment(numbers)).comments
    assert {user: [name for name, _ in shown] for user, shown in comments.items()} == {
        "501": ["first.ipynb", "second.ipynb"],
        "502": ["first.ipynb"],
    }
    for student, pages in (("ana", comments["501"]), ("ben", comments["502"])):
        for name, data in pages:
            folder = course.feedback(student, ASSIGNMENT)
            assert data == (folder / name.replace(".ipynb", ".html")).read_bytes()
    assert "feedback for 2 students" in done.output
    assert "left out: cleo: The work was not collected from Canvas." in done.output
    assert "Upload Submissions" in done.output
    assert "MiB" in done.output


def test_the_pages_load_nothing(course: Course) -> None:
    """What goes into an LMS is whole in itself: one file for each page, without a link to another."""
    feedback(course, "--zip", "canvas")

    for name, data in entries(course.root / "exports" / f"{ASSIGNMENT}-feedback-canvas.zip").items():
        page = Page(data.decode())
        assert_harmless(page)
        links = [value for value in page.values("href") if not value.startswith(("#", "https://"))]
        assert links == [], name


def test_one_student_can_be_named(course: Course) -> None:
    """After a regrade only that student's page goes back."""
    done = feedback(
        course, "--zip", "canvas", "--student", "ana", "--to", str(course.root / "ana.zip"), "--json"
    )

    (told,) = json.loads(done.stdout)
    assert {one["student"] for one in told["given"]} == {"ana"}
    assert told["left_out"] == []
    assert told["file"] == str(course.root / "ana.zip")
    assert {name.split("_")[1] for name in entries(course.root / "ana.zip")} == {"501"}


def test_what_was_never_collected_there_cannot_go_back(course: Course) -> None:
    """Names and numbers of the LMS are known from its download alone."""
    done = feedback(course, "--zip", "moodle")

    assert done.exit_code == USAGE
    assert "nothing of small_steps was collected from Moodle" in done.output
    assert "autograder collect" in done.output


def test_options_of_the_zip_need_a_zip(course: Course) -> None:
    """A mistyped command writes nothing."""
    done = feedback(course, "--to", "x.zip")

    assert done.exit_code == USAGE
    assert not course.feedback("ana", ASSIGNMENT).exists()


def test_a_later_worksheet_tells_who_is_who(course: Course) -> None:
    """Numbers of participants that came with a roster after the download count too, for their assignment."""
    one = CollectedFile(
        path="first.ipynb", entry="Team_88_assignsubmission_file/first.ipynb", size=1, sha256="0" * 64
    )
    team = Collected(
        student="ana", lms=Lms.MOODLE, archive="m.zip", key="Team_88_assignsubmission_file", files=(one,)
    )
    save_record(course.root, Record(assignment=ASSIGNMENT, students={"ana": team}))
    before = feedback(course, "--zip", "moodle", "--json")
    with Gradebook(course.db_url) as gradebook:
        ids = {IdKind.PARTICIPANT: "5501"}
        gradebook.enroll_people([Person(lms=Lms.MOODLE, ids=ids, student="ana")], ASSIGNMENT)

    after = feedback(course, "--zip", "moodle", "--json")

    (told,) = json.loads(before.stdout)
    assert told["file"] is None
    assert "worksheet" in next(one["reason"] for one in told["left_out"] if one["student"] == "ana")
    (told,) = json.loads(after.stdout)
    assert [one["entry"] for one in told["given"]] == [
        "Participant_5501_assignsubmission_file/small_steps_feedback.html"
    ]
