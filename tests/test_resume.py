"""Interrupted batches go on where they stopped, and what is as it was is not graded again."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from graded_submissions import ASSIGNMENT
from killed_runs import grade

from autograder.course import Course

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

CLASS = ("ana", "ben", "cem", "dia", "eva")
QUERY = """
    SELECT submitted_assignment.student_id, notebook.name, base_cell.name,
           grade.auto_score, grade.manual_score, grade.needs_manual_grade
    FROM grade
    JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
    JOIN notebook ON notebook.id = submitted_notebook.notebook_id
    JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
    ORDER BY 1, 2, 3
"""


def scores(course: Course) -> list[tuple[object, ...]]:
    """Return every grade of a course."""
    with closing(sqlite3.connect(course.gradebook)) as connection:
        return list(connection.execute(QUERY))


def records(course: Course) -> list[tuple[object, ...]]:
    """Return what the kit remembers of a course's submissions."""
    with closing(sqlite3.connect(course.gradebook)) as connection:
        return list(connection.execute("SELECT * FROM autograder_record ORDER BY 1, 2"))


def files(course: Course) -> dict[str, bytes]:
    """Return all files of a course but the gradebook, which holds random ids."""
    found = (path for path in course.root.rglob("*") if path.is_file() and path != course.gradebook)
    return {str(path.relative_to(course.root)): path.read_bytes() for path in found}


def state(course: Course) -> tuple[object, ...]:
    """Return all that grading leaves in a course."""
    return scores(course), records(course), files(course)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory, shared_course: Course) -> Path:
    """Return a course in which a small class has handed in blank notebooks, and one odd file each."""
    root = tmp_path_factory.mktemp("handed-in") / "course"
    shutil.copytree(shared_course.root, root)
    course = Course(root=root)
    for number, student in enumerate(CLASS):
        folder = course.submitted(student, ASSIGNMENT)
        shutil.copytree(course.release(ASSIGNMENT), folder)
        (folder / "notes.txt").write_text("x" * number, encoding="utf-8")
    (course.submitted("dia", ASSIGNMENT) / "timestamp.txt").write_text("no time at all", encoding="utf-8")
    course.secret()
    return root


@pytest.fixture(scope="module")
def whole(handed_in: Path) -> tuple[tuple[object, ...], int]:
    """Return the state that an uninterrupted run leaves, and how many steps it takes."""
    root = handed_in.with_name("whole")
    shutil.copytree(handed_in, root)
    done = grade(root)
    assert done.returncode == 1, done.stderr
    steps = re.search(r"steps: (\d+)", done.stderr)
    assert steps is not None
    return state(Course(root=root)), int(steps[1])


@pytest.fixture
def fresh(handed_in: Path, tmp_path: Path) -> Course:
    """Return a copy of the course of this test's own."""
    shutil.copytree(handed_in, tmp_path / "course")
    return Course(root=tmp_path / "course")


# ------------------------------------------------------------ interrupted


@pytest.mark.parametrize("chain", range(4))
def test_killed_at_any_moment_it_goes_on(
    fresh: Course, whole: tuple[tuple[object, ...], int], chain: int
) -> None:
    """Killed five times with all its processes, at random steps, it ends as if it had run through."""
    rng = random.Random(chain)  # noqa: S311 - repeatable moments
    expected, steps = whole
    before: set[object] = set()
    for _ in range(5):
        killed = grade(fresh.root, rng.randint(1, steps // 3))
        now = {(student, *rest) for student, *rest in scores(fresh)}

        assert killed.returncode in {-signal.SIGKILL, 1}, killed.stderr
        # What was stored stays, and no submission is stored in part.
        assert before <= now
        assert {len([row for row in now if row[0] == student]) for student, *_ in now} <= {10}
        before = now

    done = grade(fresh.root)

    assert done.returncode == 1, done.stderr
    assert state(fresh) == expected


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_told_and_stores_what_is_graded(
    fresh: Course, whole: tuple[tuple[object, ...], int], end: signal.Signals
) -> None:
    """Ctrl-C goes to every process of the terminal, a batch system ends the first; both lose nothing."""
    command = [sys.executable, "-m", "autograder", "grade", "--jobs", "1", "--course-dir", str(fresh.root)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline_s = time.monotonic() + 60
    while not scores(fresh) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    send = os.killpg if end is signal.SIGINT else os.kill
    send(process.pid, end)
    _, told = process.communicate(timeout=60)

    if process.returncode != 1:
        assert process.returncode == 130
        assert "The same command goes on from there" in told
        assert "Traceback" not in told
    assert records(fresh)
    assert not [failure for *_, failure in records(fresh) if failure and "no time" not in str(failure)]

    assert grade(fresh.root).returncode == 1
    assert state(fresh) == whole[0]
