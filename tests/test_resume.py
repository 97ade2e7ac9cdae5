"""Interrupted batches go on where they stopped, and what is as it was is not graded again."""

from __future__ import annotations

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
from killed_runs import grade, start
from plain_course import take_pictures_out

from autograder.course.course import Course

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

CLASS = ("ana", "ben", "dia")
CROWD = (*CLASS, *(f"s{number}" for number in range(22)))
KILLS = {"made up": 20, "real": 3}
GRADED = 10
"""Graded cells of the assignment."""
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
    """Return what the kit remembers of a course's submissions, wherever the course is."""
    with closing(sqlite3.connect(course.gradebook)) as connection:
        rows = connection.execute("SELECT student, fingerprint, failure FROM autograder_record ORDER BY 1")
        return [(*row, failure.replace(str(course.root), "")) for *row, failure in rows]


def files(course: Course) -> dict[str, bytes]:
    """Return all files of a course but the gradebook, which holds random ids."""
    found = (path for path in course.root.rglob("*") if path.is_file() and path != course.gradebook)
    return {str(path.relative_to(course.root)): path.read_bytes() for path in found}


def state(course: Course) -> tuple[object, ...]:
    """Return all that grading leaves in a course."""
    return scores(course), records(course), files(course)


@pytest.fixture(scope="module", params=KILLS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return whether results are made up, which is quick, or real."""
    return str(request.param)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory, shared_course: Course, kind: str) -> Path:
    """Return a course in which a class has handed in blank notebooks, and one odd file each."""
    root = tmp_path_factory.mktemp("handed-in") / "course"
    shutil.copytree(shared_course.root, root)
    course = Course(root=root)
    if kind == "real":
        take_pictures_out(course, ASSIGNMENT)
    for number, student in enumerate(CROWD if kind == "made up" else CLASS):
        folder = course.submitted(student, ASSIGNMENT)
        shutil.copytree(course.release(ASSIGNMENT), folder)
        (folder / "notes.txt").write_text("x" * number, encoding="utf-8")
    (course.submitted("dia", ASSIGNMENT) / "timestamp.txt").write_text("no time at all", encoding="utf-8")
    course.secret()
    return root


@pytest.fixture(scope="module")
def whole(handed_in: Path, kind: str) -> tuple[tuple[object, ...], int]:
    """Return the state that an uninterrupted run leaves, and how many steps it takes."""
    root = handed_in.with_name("whole")
    shutil.copytree(handed_in, root)
    done = grade(root, quick=kind == "made up")
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


def test_killed_at_any_moment_it_goes_on(
    fresh: Course, whole: tuple[tuple[object, ...], int], kind: str
) -> None:
    """Killed with all its processes at random steps, again and again, it ends as if it had run through."""
    rng = random.Random(kind)  # noqa: S311 - repeatable moments
    quick = kind == "made up"
    expected, steps = whole
    before: set[tuple[object, ...]] = set()
    for _ in range(KILLS[kind]):
        killed = grade(fresh.root, rng.randint(1, steps * 2 // (KILLS[kind] + 4)), quick=quick)
        now = set(scores(fresh))

        assert killed.returncode == -signal.SIGKILL, killed.stderr
        # What was stored stays, and no submission is stored in part.
        assert before <= now
        assert all(sum(row[0] == student for row in now) == GRADED for student, *_ in now)
        before = now

    done = grade(fresh.root, quick=quick)

    assert done.returncode == 1, done.stderr
    assert state(fresh) == expected


@pytest.mark.parametrize("kind", ["real"], indirect=True)
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


# ----------------------------------------------------- several at one time


@pytest.mark.parametrize("kind", ["made up"], indirect=True)
def test_two_graders_share_the_class(
    fresh: Course, whole: tuple[tuple[object, ...], int], tmp_path: Path
) -> None:
    """Nobody is graded twice, nothing is lost, no lock ends anything, and a person may score meanwhile."""
    note = tmp_path / "graded"
    runs = [start(fresh.root, quick=True, GRADED=str(note)) for _ in range(2)]
    by_hand = 0
    while any(run.poll() is None for run in runs):
        by_hand += _score_by_hand(fresh)
    told = [run.communicate()[1] for run in runs]

    assert [run.returncode for run in runs] == [1, 1], told
    graded = [line.split() for line in note.read_text(encoding="utf-8").splitlines()]
    assert sorted(student for _, student in graded if student != "dia") == sorted({*CROWD} - {"dia"})
    assert by_hand > 0
    kept = [manual for *_, manual, _ in scores(fresh) if manual is not None]
    assert len(kept) == by_hand
    expected = whole[0]
    assert [row[:4] for row in scores(fresh)] == [row[:4] for row in expected[0]]  # type: ignore[attr-defined]
    assert (records(fresh), files(fresh)) == expected[1:]


def _score_by_hand(course: Course) -> int:
    """Score by hand one more written answer, as formgrader does; return how many it were."""
    with closing(sqlite3.connect(course.gradebook, timeout=30)) as connection, connection:
        changed = connection.execute(
            """UPDATE grade SET manual_score = 1, needs_manual_grade = 0 WHERE id = (
                SELECT grade.id FROM grade JOIN base_cell ON base_cell.id = cell_id
                WHERE base_cell.name = 'explain_reshape_order' AND manual_score IS NULL LIMIT 1)"""
        ).rowcount
    time.sleep(0.02)
    return changed
