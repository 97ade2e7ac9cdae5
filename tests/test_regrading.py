"""What has not changed is not graded again, what has is, and who gains or loses is told before."""

from __future__ import annotations

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from graded_submissions import ASSIGNMENT, Submission

from autograder.course.settings import load_settings
from autograder.grading import batch
from autograder.grading.batch import Graders, NotGraded
from autograder.grading.comparing import Comparison, print_comparison, what_changed
from autograder.grading.planning import Again
from autograder.grading.run import Batch, grade_assignment
from autograder.results import GradedSubmission

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.grading.batch import Task

    Grade = Callable[..., Batch]
    Compare = Callable[..., Comparison]

CLASS = ("ana", "ben", "cem")
NBGRADERS = ("student", "submitted_assignment", "submitted_notebook", "grade", "comment")
"""Tables of nbgrader's that grading may touch."""


class World:
    """What the made-up grader does: shares of the points by student, and who cannot be graded."""

    def __init__(self) -> None:
        self.shares: dict[str, str] = {}
        self.broken: set[str] = set()
        self.graded: list[str] = []

    def grade_one(self, task: Task) -> GradedSubmission | NotGraded:
        """Grade without running anything."""
        self.graded.append(task.student)
        if task.student in self.broken:
            return NotGraded(task.student, "the machine: has no memory. Add some.")
        one = Submission(task.student, self.shares.get(task.student, "0.5"))
        return GradedSubmission(one.notebooks, one.result, one.unanswered)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, course: Course) -> World:
    """Let three students hand in, and results be made up."""
    one = World()
    monkeypatch.setattr(batch, "grade_one", one.grade_one)
    for student in CLASS:
        shutil.copytree(course.release(ASSIGNMENT), course.submitted(student, ASSIGNMENT))
    return one


@pytest.fixture
def grade(course: Course, world: World) -> Grade:
    """Return a function that grades the class, or some of it, as a new command would."""

    def grade(*students: str, again: Again = Again.NOTHING, **flags: object) -> Batch:
        world.graded.clear()
        settings = load_settings(course.root, **flags)
        with (
            ThreadPoolExecutor(1) as executor,
            Graders(course, settings, ASSIGNMENT, count=3, executor=executor) as graders,
        ):
            return grade_assignment(graders, ASSIGNMENT, students or CLASS, again=again, quiet=True)

    return grade


@pytest.fixture
def compare(course: Course, world: World) -> Compare:
    """Return a function that compares, as the command does."""

    def compare(again: Again = Again.NOTHING) -> Comparison:
        world.graded.clear()
        with (
            ThreadPoolExecutor(1) as executor,
            Graders(course, load_settings(course.root), ASSIGNMENT, count=3, executor=executor) as graders,
        ):
            return what_changed(graders, ASSIGNMENT, CLASS, again=again, quiet=True)

    return compare


def rows(
    course: Course, names: tuple[str, ...] = (*NBGRADERS, "autograder_record")
) -> list[tuple[object, ...]]:
    """Return every row of the gradebook that grading may touch."""
    with closing(sqlite3.connect(course.gradebook)) as connection:
        return [row for name in names for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1")]  # noqa: S608 - the names above


# ------------------------------------------------------------- unchanged


def test_a_second_run_grades_nothing(course: Course, world: World, grade: Grade) -> None:
    """It says who is graded already, and changes no row."""
    assert grade().unchanged == ()
    before = rows(course)

    again = grade()

    assert world.graded == []
    assert again.unchanged == CLASS
    assert again.results == ()
    assert rows(course) == before


def test_a_run_with_nothing_to_do_starts_no_process(
    course: Course, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that grade take most of the time of a run that finds nothing to do."""
    grade()

    def refuse(_: Graders) -> None:
        raise AssertionError

    monkeypatch.setattr(Graders, "start", refuse)
    with Graders(course, load_settings(course.root), ASSIGNMENT, count=3) as graders:
        assert grade_assignment(graders, ASSIGNMENT, CLASS, quiet=True).unchanged == CLASS


def test_force_grades_everything(world: World, grade: Grade) -> None:
    """Changed or not."""
    grade()

    grade(again=Again.EVERYTHING)

    assert sorted(world.graded) == sorted(CLASS)


def _edit(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b"\n")


@pytest.mark.parametrize(
    ("name", "all_of_them"),
    [
        (f"submitted/ben/{ASSIGNMENT}/exercise1_parameter_count.ipynb", False),
        (f"submitted/ben/{ASSIGNMENT}/data/new.csv", False),
        (f"submitted/ben/{ASSIGNMENT}/timestamp.txt", False),
        (f"source/{ASSIGNMENT}/new.csv", True),
        ("solutions/reference/new.py", True),
        (f"solutions/misconceptions/{ASSIGNMENT}/new.py", True),
        (".autograder_secret", True),
    ],
)
def test_what_a_result_depends_on_makes_it_graded_again(
    course: Course, world: World, grade: Grade, name: str, *, all_of_them: bool
) -> None:
    """A student's file that student, a file of the course everybody."""
    grade()
    path = course.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    if name == ".autograder_secret":
        path.write_text("0123456789abcdefghijklmnopqrstuvwxyz", encoding="ascii")
    else:
        _edit(path)

    done = grade()

    assert sorted(world.graded) == (sorted(CLASS) if all_of_them else ["ben"])
    assert done.unchanged == (() if all_of_them else ("ana", "cem"))
    assert grade().unchanged == CLASS


@pytest.mark.parametrize(
    ("flags", "graded"),
    [
        ({"jobs": 3}, 0),
        ({"memory_mib": 512}, 3),
        ({"wall_time_s": 9.0}, 3),
        ({"inputs_version": 2}, 3),
        ({"unsafe_no_sandbox": True}, 3),
    ],
)
def test_settings_that_change_results_make_them_graded_again(
    world: World, grade: Grade, flags: dict[str, object], graded: int
) -> None:
    """How many are graded at a time changes none."""
    grade()

    grade(**flags)

    assert len(world.graded) == graded


@pytest.mark.parametrize("loss", ["folder", "empty", "staging"])
def test_graded_notebooks_that_are_not_whole_are_made_again(
    course: Course, world: World, grade: Grade, loss: str
) -> None:
    """Deleted, emptied by a power cut, or left behind by a run that was killed."""
    grade()
    folder = course.autograded("ben", ASSIGNMENT)
    if loss == "folder":
        shutil.rmtree(folder)
    elif loss == "empty":
        notebook = folder / "exercise3_forward.ipynb"
        notebook.chmod(0o644)
        notebook.write_bytes(b"")
    else:
        (folder.parent / f".{folder.name}~ab12cd34" / "replaced").mkdir(parents=True)

    grade()

    assert world.graded == ["ben"]
    assert [path.name for path in folder.parent.iterdir()] == [ASSIGNMENT]
    assert all(path.stat().st_size for path in folder.iterdir())


def test_what_was_removed_from_the_gradebook_is_graded_again(
    course: Course, world: World, grade: Grade
) -> None:
    """The kit's own table does not speak for rows that are not there."""
    grade()
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute("DELETE FROM submitted_assignment WHERE student_id = 'ben'")

    grade()

    assert world.graded == ["ben"]
    assert grade().unchanged == CLASS


def test_work_handed_in_while_it_is_graded_is_graded_the_next_time(
    course: Course, world: World, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result belongs to what was read, and nobody knows which of the two that was."""

    def meanwhile(task: Task) -> GradedSubmission | NotGraded:
        (course.submitted(task.student, ASSIGNMENT) / "new.txt").write_text("new", encoding="utf-8")
        return world.grade_one(task)

    with monkeypatch.context() as patch:
        patch.setattr(batch, "grade_one", meanwhile)
        grade("ana")

    grade("ana")
    assert world.graded == ["ana"]
    assert grade("ana").unchanged == ("ana",)


# ---------------------------------------------------------------- failures


def test_a_failure_is_remembered_with_its_reason_and_tried_again_when_told(
    world: World, grade: Grade
) -> None:
    """Otherwise it is told again, and costs no time."""
    world.broken = {"ben"}
    first = grade()
    assert first.not_graded == (NotGraded("ben", "the machine: has no memory. Add some."),)

    second = grade()
    assert world.graded == []
    assert second.not_graded == first.not_graded
    assert second.unchanged == ("ana", "cem")

    world.broken = set()
    third = grade(again=Again.FAILED)
    assert world.graded == ["ben"]
    assert third.not_graded == ()
    assert grade().unchanged == CLASS


def test_a_failure_never_becomes_a_score(course: Course, world: World, grade: Grade) -> None:
    """Neither at first, nor over a score that is there."""
    world.broken = {"ben"}
    grade()
    assert "ben" not in {row[2] for row in _submissions(course)}

    world.broken = {"ana"}
    before = rows(course, NBGRADERS)
    _edit(course.submitted("ana", ASSIGNMENT) / "exercise1_parameter_count.ipynb")
    failed = grade()

    assert [one.student for one in failed.not_graded] == ["ana", "ben"]
    assert rows(course, NBGRADERS) == before


def _submissions(course: Course) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(course.gradebook)) as connection:
        return list(connection.execute("SELECT id, assignment_id, student_id FROM submitted_assignment"))


# ------------------------------------------------------------ what changed


def test_who_gains_and_who_loses_is_told_before_anything_is_stored(
    course: Course, world: World, grade: Grade, compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cell by cell, with what a person has scored left alone."""
    grade()
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute(
            "UPDATE grade SET manual_score = 5 WHERE cell_id = (SELECT id FROM base_cell"
            " WHERE name = 'test_forward' AND type = 'GradeCell')"
        )
    before = rows(course)
    world.shares = {"ana": "1", "ben": "0"}

    found = compare(Again.EVERYTHING)

    assert rows(course) == before
    assert set(found.totals) == {"ana", "ben"}
    assert found.same == ("cem",)
    assert found.totals["ana"] == -found.totals["ben"] == Decimal(18 - 6) / 2
    cells = {change.grade_id for change in found.changes if change.student == "ana"}
    assert "explain_reshape_order" not in cells
    by_hand = [change for change in found.changes if change.by_hand]
    assert {(one.student, one.grade_id, one.difference) for one in by_hand} == {
        ("ana", "test_forward", Decimal(0)),
        ("ben", "test_forward", Decimal(0)),
    }
    json.dumps(found.to_dict())
    print_comparison(found)
    told = capsys.readouterr().out
    assert "1 would gain, 1 would lose, 1 keep their points" in told
    assert "Nothing was stored" in told

    grade(again=Again.EVERYTHING)
    assert compare(Again.EVERYTHING).changes == ()


def test_comparing_grades_only_what_grading_would(world: World, grade: Grade, compare: Compare) -> None:
    """Who is graded for the first time neither gains nor loses."""
    grade("ana", "ben")

    found = compare()

    assert world.graded == ["cem"]
    assert (found.first, found.unchanged, found.changes) == (("cem",), ("ana", "ben"), ())


def test_manual_scores_and_comments_survive(course: Course, world: World, grade: Grade) -> None:
    """Whatever the grader finds the second time."""
    grade()
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute("UPDATE grade SET manual_score = 0.25, extra_credit = 1")
        connection.execute("UPDATE comment SET manual_comment = 'well done'")
    world.shares = dict.fromkeys(CLASS, "1")

    grade(again=Again.EVERYTHING)

    with closing(sqlite3.connect(course.gradebook)) as connection:
        assert set(connection.execute("SELECT manual_score, extra_credit FROM grade")) == {(0.25, 1.0)}
        assert set(connection.execute("SELECT manual_comment FROM comment")) == {("well done",)}


def test_a_batch_tells_machines_everything(grade: Grade) -> None:
    """The JSON names those that were left alone, too."""
    grade("ana")

    told = json.loads("".join(grade().to_json()))

    assert told["unchanged"] == ["ana"]
    assert sorted(one["student"] for one in told["results"]) == ["ben", "cem"]
