"""The demo: the whole way on an invented class, and the same class by nbgrader's own command."""

from __future__ import annotations

import csv
import os
import re
import shutil
import sqlite3
import subprocess
import sysconfig
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from gradebook_rows import gradebook_rows

from autograder.commands.demo import _copy, run_demo
from autograder.commands.demo_class import ASSIGNMENT, CLASS
from autograder.course.course import Course
from autograder.errors import CourseError
from autograder.graded import read_results
from autograder.results import Outcome, Status

if TYPE_CHECKING:
    from autograder.results import CheckResult, SubmissionResult

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

ROOT = Path(__file__).resolve().parents[1]
SUBMISSIONS = ("grade", "comment", "submitted_notebook", "submitted_assignment")


@pytest.fixture(scope="module")
def results(demo: tuple[Course, str]) -> dict[str, SubmissionResult]:
    """Return the demo's results by student."""
    return {result.student: result for result in read_results(demo[0], ASSIGNMENT)}


def test_it_says_where_to_look(demo: tuple[Course, str]) -> None:
    """Every path it prints exists."""
    course, output = demo
    paths = [Path(word) for word in output.split() if word.startswith(str(course.root))]

    assert len(paths) > 5
    assert all(path.exists() for path in paths)


def test_each_student_gets_what_their_work_is_worth(results: dict[str, SubmissionResult]) -> None:
    """Right work earns everything, each mistake costs its own cell, accidents cost themselves."""
    lost = {
        student: {
            cell.grade_id.removeprefix("test_")
            for book in result.notebooks
            for cell in book.cells
            if not cell.manual and cell.auto_score != cell.max_score
        }
        for student, result in results.items()
    }

    assert set(results) == {student.student for student in CLASS}
    assert {student for student, cells in lost.items() if not cells} == {"ada", "bela", "lea", "pia"}
    assert lost["chidi"] == {"split_heads"}
    assert lost["dana"] == lost["fay"] == lost["hana"] == {"forward"}
    assert lost["emre"] == {"forward", "merge_heads"}
    assert lost["kaito"] == {"merge_heads"}
    assert lost["nia"] == {"roundtrip_is_exact", "heads_differ"}
    assert results["ivo"].auto_score == 0
    assert results["june"].notebooks[2].status is Status.MISSING
    assert Outcome.LIMIT in {check.outcome for check in _checks(results["milo"])}
    assert results["pia"].notebooks[0].repairs


def test_each_mistake_has_its_name(results: dict[str, SubmissionResult]) -> None:
    """The feedback names what the demo class was made of."""
    named = {check.misconception for result in results.values() for check in _checks(result)} - {""}
    made_of = {name for student in CLASS for name in student.variants}

    assert named <= made_of | {"head_dim_rounds_down"}
    assert len(named) >= 9


def test_answers_wait_for_a_person(results: dict[str, SubmissionResult]) -> None:
    """All but the blank one."""
    waiting = {student for student, result in results.items() if result.needs_manual_grade}

    assert waiting == {student.student for student in CLASS} - {"ivo"}


def test_the_grade_file_has_a_row_for_everybody(demo: tuple[Course, str]) -> None:
    """Names with commas and accents come back; the late one is late."""
    with (demo[0].root / "exports" / f"{ASSIGNMENT}.csv").open(encoding="utf-8", newline="") as file:
        table = {row["student_id"]: row for row in csv.DictReader(file)}

    assert table["bela"]["last_name"] == "Novák, Jr."
    assert {row["student_id"] for row in table.values()} == {student.student for student in CLASS}
    late = next(column for column in next(iter(table.values())) if "seconds_late" in column)
    assert float(table["nia"][late] or 0) > 0
    assert not float(table["ada"][late] or 0)


def test_the_demo_keeps_out_of_the_courses_gradebook(course: Course, tmp_path: Path) -> None:
    """Real grades may lie on a server, and the demo invents sixteen students."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("\nc.CourseDirectory.db_url = 'postgresql://server/grades'\n")

    copy = _copy(course, tmp_path / "demo")

    assert course.db_url == "postgresql://server/grades"
    assert copy.db_url == f"sqlite:///{tmp_path / 'demo' / 'gradebook.db'}"


@pytest.mark.parametrize("change", ["submitted_directory = '/srv/submitted'", "source_directory = 'other'"])
def test_the_demo_is_for_the_kits_own_course(
    course: Course, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """In another layout the copy's folders could be the course's own."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"\nc.CourseDirectory.{change}\n")
    (course.root / "other").mkdir()
    monkeypatch.chdir(course.root)

    with pytest.raises(CourseError, match="is not the kit's own course"):
        run_demo(course.root / "demo")

    assert not (course.root / "demo").exists()


def test_nbgrader_autograde_agrees_on_every_cell(demo: tuple[Course, str], tmp_path: Path) -> None:
    """The same class by nbgrader's own command: the same rows, the same notebooks."""
    ours = demo[0]
    root = tmp_path / "course"
    shutil.copytree(
        ours.root, root, ignore=shutil.ignore_patterns("autograded", "feedback", "reports", "exports")
    )
    with sqlite3.connect(root / "gradebook.db") as connection:
        for table in SUBMISSIONS:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
    connection.close()
    config = root / "nbgrader_config.py"
    config.write_text(
        config.read_text(encoding="utf-8").replace("wall_time_s = 10", "wall_time_s = 3"), encoding="utf-8"
    )
    scripts = sysconfig.get_path("scripts")
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    command = [f"{scripts}/nbgrader", "autograde", ASSIGNMENT, "--log-level=WARN"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert gradebook_rows(root / "gradebook.db") == gradebook_rows(ours.gradebook)
    theirs = Course(root=root)
    for student in ours.students(ASSIGNMENT):
        left, right = (course.autograded(student, ASSIGNMENT) for course in (ours, theirs))
        assert _files(left) == _files(right)
        for path in sorted(left.glob("*.ipynb")):
            assert path.read_text(encoding="utf-8") == (right / path.name).read_text(encoding="utf-8"), path


def test_nobody_is_left_out_of_the_feedback(demo: tuple[Course, str]) -> None:
    """A page for each student, and no hidden line on any."""
    pages = list(demo[0].root.glob("feedback/*/*/*.html"))

    assert Counter(page.name for page in pages)["index.html"] == len(CLASS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "run_checks" not in text
        assert "HIDDEN TESTS" not in text


def test_wrong_work_is_pictured_and_right_work_is_not(demo: tuple[Course, str]) -> None:
    """The split, the merge, the maps and the count of those who got them wrong; nothing that ran too long."""
    titles = {
        student: set(re.findall(r'<figcaption><p class="kicker">([\w ]+) · ', _page(demo[0], student)))
        for student in ("chidi", "emre", "goran", "hana", "ada", "ivo", "milo")
    }

    assert titles["chidi"] == {"Where the numbers went"}
    assert titles["emre"] == {"Where the numbers went", "Your attention weights"}
    assert titles["hana"] == titles["emre"]
    assert titles["goran"] == {"Your count"}
    assert titles["ada"] == titles["ivo"] == titles["milo"] == set()


def _page(course: Course, student: str) -> str:
    return (course.feedback(student, ASSIGNMENT) / "index.html").read_text(encoding="utf-8")


def _checks(result: SubmissionResult) -> list[CheckResult]:
    return [check for book in result.notebooks for cell in book.cells for check in cell.checks]


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
