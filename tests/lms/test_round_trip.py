"""From a download through the course and back: `collect`, grading, `feedback --zip`, and the LMS again."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from canvas_reupload import CanvasAssignment, upload
from canvas_zips import Upload, canvas_zip
from click.testing import CliRunner
from course_copies import ROOT
from moodle_feedback_importer import MoodleAssignment, import_feedback
from nasty_people import NASTY, TWINS, Nasty
from small_course import ASSIGNMENT, grade, make_course
from tree_uploads import add_feedback_files, upload_all
from written_downloads import MoodleSite, Written, brightspace, handed, moodle, sakai
from written_rosters import brightspace as brightspace_roster
from written_rosters import canvas_gradebook, moodle_worksheet, sakai_gradebook

from autograder.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from autograder.course.course import Course

    Pages = Mapping[str, list[bytes]]

PEOPLE = [one for one in (*NASTY, *TWINS[:2]) if one.login.isascii() and len(one.full.encode()) < 150]
ALONE = [one for one in PEOPLE if one not in TWINS and not set(one.full) & set("/\\")]
"""Those whom a name alone tells, and a folder of that name."""


@dataclass(frozen=True)
class Way:
    """One LMS: who is in the course, what it hands out, and what it does with what it gets back."""

    lms: str
    people: Sequence[Nasty]
    roster: bytes
    download: Written
    back: Callable[[Mapping[str, bytes]], tuple[Pages, list[str]]]
    student_id: str = "login"

    @property
    def students(self) -> set[str]:
        """Their ids in the course."""
        return {one.email if self.student_id == "email" else one.login for one in self.people}


def canvas_way() -> Way:
    """Canvas, in which everybody has handed in two files, some of them late."""
    uploads = [
        Upload(
            sortable=one.sortable,
            user=one.user,
            attachment=9000 + 10 * at + nth,
            display=f"{name}-1.ipynb" if at % 2 else f"{name}.ipynb",
            late=at % 3 == 0,
        )
        for at, one in enumerate(PEOPLE)
        for nth, name in enumerate(("first", "second"))
    ]
    logins = {one.user: one.login for one in PEOPLE}

    def back(files: Mapping[str, bytes]) -> tuple[Pages, list[str]]:
        known = {(one.user, str(one.attachment)): one.display for one in uploads}
        done = upload(files, CanvasAssignment(known))
        pages = {logins[user]: [data for _, data in shown] for user, shown in done.comments.items()}
        return pages, done.ignored

    return Way("canvas", PEOPLE, canvas_gradebook(PEOPLE)[0], Written(entries=canvas_zip(uploads)), back)


def moodle_way(*, flat: bool) -> Way:
    """Moodle, with its worksheet, which knows addresses and no logins."""
    numbers = {str(int(one.user) + 5000): one.email for one in PEOPLE}
    work = [handed(one, "first.ipynb", "second.ipynb") for one in PEOPLE]
    own = {one.who.email: tuple(one.files.values()) for one in work}

    def back(files: Mapping[str, bytes]) -> tuple[Pages, list[str]]:
        done = import_feedback(files, MoodleAssignment(numbers, own))
        pages = {student: list(found.values()) for student, found in done.feedback.items()}
        return pages, done.ignored + done.unchanged

    download = moodle(work, MoodleSite(flat=flat))
    return Way("moodle", PEOPLE, moodle_worksheet(PEOPLE)[0], download, back, "email")


def brightspace_way() -> Way:
    """Brightspace, in which everybody has handed in twice."""
    work = [handed(one, "first.ipynb", number=nth) for one in ALONE for nth in (0, 25)]
    written = brightspace(work)
    folders = {
        name.split("/")[0]: one.who.login
        for one in work
        for name, data in written.entries.items()
        if data in one.files.values()
    }

    def back(files: Mapping[str, bytes]) -> tuple[Pages, list[str]]:
        done = add_feedback_files(files, folders)
        return {folders[name]: list(found.values()) for name, found in done.files.items()}, done.ignored

    return Way("brightspace", ALONE, brightspace_roster(ALONE)[0], written, back)


def sakai_way() -> Way:
    """Sakai, whose folders end in ids."""
    people = [one for one in PEOPLE if one.login.isalnum()]

    def back(files: Mapping[str, bytes]) -> tuple[Pages, list[str]]:
        done = upload_all(files, "HW 1", {one.login for one in people})
        return {eid: list(found.values()) for eid, found in done.files.items()}, done.ignored

    written = sakai([handed(one, "first.ipynb", "second.ipynb") for one in people])
    return Way("sakai", people, sakai_gradebook(people)[0], written, back)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a small course with an empty gradebook."""
    course = make_course(tmp_path / "course")
    shutil.copyfile(ROOT / "gradebook.db", course.gradebook)
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute(
            "INSERT INTO assignment (id, name, course_id) SELECT 'small', ?, id FROM course", (ASSIGNMENT,)
        )
    return course


@pytest.mark.parametrize(
    "way",
    [canvas_way(), moodle_way(flat=False), moodle_way(flat=True), brightspace_way(), sakai_way()],
    ids=["canvas", "moodle", "moodle flat", "brightspace", "sakai"],
)
def test_every_page_comes_back_to_its_student(course: Course, tmp_path: Path, way: Way) -> None:
    """Whoever was collected finds their own pages in the LMS, all of them, and nobody finds another's."""
    roster, archive = tmp_path / "roster.csv", tmp_path / way.download.name
    roster.write_bytes(way.roster)
    with zipfile.ZipFile(archive, "w") as file:
        for name, data in way.download.entries.items():
            file.writestr(name, data)
    where = ["--course-dir", str(course.root)]
    options = ["--roster", str(roster), "--student-id", way.student_id]
    done = CliRunner().invoke(main, ["collect", str(archive), ASSIGNMENT, *options, *where])
    students = course.students(ASSIGNMENT)
    assert set(students) == way.students, done.output
    for student in students:
        grade(course, student)

    packed = tmp_path / "back.zip"
    options = ["--zip", way.lms, "--to", str(packed), "--download", str(archive)]
    done = CliRunner().invoke(main, ["feedback", ASSIGNMENT, *options, *where])

    assert done.exit_code == 0, done.output
    assert "left out" not in done.output
    with zipfile.ZipFile(packed) as file:
        pages, ignored = way.back({name: file.read(name) for name in file.namelist()})
    assert ignored == []
    assert set(pages) == set(students)
    for student, found in pages.items():
        folder = course.feedback(student, ASSIGNMENT)
        own = {path.read_bytes() for path in folder.glob("*.html")}
        assert found != []
        assert set(found) <= own
