"""Batches: any executor, bounded memory, and everything that was graded is stored."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import tempfile
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

import pytest
from graded_submissions import ASSIGNMENT, Submission

from autograder.course.settings import load_settings
from autograder.errors import GradebookError, GradebookLockedError, OperatorError, SubmissionError
from autograder.gradebook import Gradebook, database
from autograder.grading import batch, storage
from autograder.grading.batch import NotGraded, grade_all
from autograder.grading.run import Batch, sharing
from autograder.grading.scratch import scratch_folder
from autograder.grading.storage import FLUSH_AT, Store
from autograder.notebook import read_notebook
from autograder.results import CellResult, GradedSubmission
from autograder.submission.misplaced import Misplaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.grading.batch import Task


# Python 3.11 cannot parse in two threads at once (an AST error of CPython's).
PARSING = threading.Lock()


def graded(student: str) -> GradedSubmission:
    """Return a graded submission without running anything."""
    with PARSING:
        one = Submission(student)
    return GradedSubmission(one.notebooks, one.result, one.unanswered)


class Held(Executor):
    """Runs a task when it is asked for its result, and counts what is open."""

    def __init__(self) -> None:
        self.open = self.most = 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        """Do one task after every other one that is open."""
        self.open += 1
        self.most = max(self.most, self.open)
        future: Future[Any] = Future()
        future.set_result(function(*args))
        return future


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every submission be graded at once, but for those of "broken"."""

    def grade(task: Task) -> GradedSubmission | NotGraded:
        if task.student == "broken":
            raise SubmissionError(task.student, "is empty", "Hand in the saved notebook.")
        return graded(task.student)

    monkeypatch.setattr(batch, "grade_one", grade)


@pytest.mark.usefixtures("fake")
def test_a_few_are_handed_over_at_a_time(course: Course) -> None:
    """Memory does not grow with the class: what waits is bounded, what is done is let go."""
    settings, executor = load_settings(course.root, jobs=2), Held()
    students = [f"s{number}" for number in range(40)]

    seen = []
    for result in grade_all(course, settings, ASSIGNMENT, students, executor=executor):
        assert isinstance(result, GradedSubmission)
        seen.append(result.result.student)
        executor.open -= 1

    assert sorted(seen) == sorted(students)
    assert executor.most <= 4 * settings.jobs + settings.jobs


@pytest.mark.usefixtures("fake")
def test_any_executor_will_do(course: Course) -> None:
    """The caller's executor is used, and not shut down."""
    settings = load_settings(course.root, jobs=3)
    with ThreadPoolExecutor(3) as executor:
        for _ in range(2):
            results = list(grade_all(course, settings, ASSIGNMENT, ["ana", "ben"], executor=executor))
            assert {one.result.student for one in results if isinstance(one, GradedSubmission)} == {
                "ana",
                "ben",
            }


def test_a_pool_of_somebody_elses_that_breaks_is_the_machines_failure(course: Course) -> None:
    """It is told as such, never as a score."""

    class Broken(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool())
            return future

    with pytest.raises(OperatorError, match="ended from outside"):
        list(grade_all(course, load_settings(course.root), ASSIGNMENT, ["ana"], executor=Broken()))


def killer(task: Task) -> GradedSubmission | NotGraded:
    """Grade in a process of the pool; it dies of whoever is called so."""
    if task.student.startswith("killer"):
        os.kill(os.getpid(), signal.SIGKILL)
    return NotGraded(task.student, "graded")


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes that grade do nothing but live or die."""
    monkeypatch.setattr(batch, "grade_one", killer)
    monkeypatch.setattr(batch, "_get_ready", _nothing_to_get_ready)


def _nothing_to_get_ready(*_: object) -> None:
    """Start at once."""


@pytest.mark.usefixtures("killing")
def test_a_submission_that_ends_its_process_costs_itself_alone(course: Course) -> None:
    """Those that were being graded beside it are graded all the same, and the class goes on."""
    students = ["ana", "ben", "killer", "cem", *(f"s{number}" for number in range(12))]

    found = {
        one.student: one.reason
        for one in grade_all(course, load_settings(course.root, jobs=2), ASSIGNMENT, students)
        if isinstance(one, NotGraded)
    }

    assert set(found) == set(students)
    assert {student for student, reason in found.items() if reason != "graded"} == {"killer"}
    assert "--retry-failed" in found["killer"]


@pytest.mark.usefixtures("killing")
def test_a_machine_that_ends_every_process_ends_the_batch(course: Course) -> None:
    """It is not tried for every submission of a large class."""
    students = [f"killer{number}" for number in range(5)]

    with pytest.raises(OperatorError, match="ended from outside"):
        list(grade_all(course, load_settings(course.root, jobs=2), ASSIGNMENT, students))


def test_a_fault_of_the_graders_own_costs_one_submission(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told with its place, so that it can be reported."""

    class Faulty:
        def grade_submission(self, *_: object) -> GradedSubmission:
            return cast("GradedSubmission", 1 // 0)

    monkeypatch.setattr(batch, "_grader", lambda _: Faulty())
    with ThreadPoolExecutor(1) as executor:
        (one,) = grade_all(course, load_settings(course.root), ASSIGNMENT, ["ana"], executor=executor)

    assert isinstance(one, NotGraded)
    assert "the grader itself failed (ZeroDivisionError)" in one.reason
    assert "test_batch.py, line" in one.reason


def test_folders_of_killed_runs_are_removed_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder whose process lives is held; one that nobody marked is nobody's of ours."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "autograder-dead").mkdir()
    (tmp_path / "autograder-dead" / "in-use").touch()
    (tmp_path / "autograder-demo").mkdir()

    with scratch_folder() as first, scratch_folder() as second:
        assert {path.name for path in tmp_path.iterdir()} == {"autograder-demo", first.name, second.name}

    assert [path.name for path in tmp_path.iterdir()] == ["autograder-demo"]


# ---------------------------------------------------------------- storing


@pytest.fixture
def store(course: Course) -> Iterator[Store]:
    """Return a store on a course's gradebook that has just stored something."""
    for student in ("ana", "ben", "cem"):
        course.submitted(student, ASSIGNMENT).mkdir(parents=True)
    with Gradebook(course.db_url) as gradebook, Store(course, gradebook, load_settings(course.root)) as store:
        yield store


def stored(course: Course) -> list[str]:
    """Return the students whose scores are in the gradebook."""
    with closing(sqlite3.connect(course.gradebook)) as connection:
        return [
            row[0] for row in connection.execute("SELECT student_id FROM submitted_assignment ORDER BY 1")
        ]


def test_the_first_result_is_stored_at_once(course: Course, store: Store) -> None:
    """Who watches sees it; those that follow within a second wait for each other."""
    for student in ("ana", "ben", "cem"):
        store.add(graded(student))
        assert course.autograded(student, ASSIGNMENT).is_dir()
        assert stored(course) == ["ana"]

    store.flush()

    assert stored(course) == ["ana", "ben", "cem"]


def test_no_more_than_a_group_waits(course: Course, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast they come."""
    assert FLUSH_AT <= 100
    monkeypatch.setattr(storage, "FLUSH_AT", 2)
    store.add(graded("ana"))
    store.add(graded("ben"))
    store.add(graded("cem"))

    assert stored(course) == ["ana", "ben", "cem"]


def store_two(course: Course, gradebook: Gradebook, end: BaseException | None = None) -> None:
    """Store two submissions, and end as told."""
    with Store(course, gradebook, load_settings(course.root)) as store:
        for student in ("ana", "ben"):
            store.add(graded(student))
        if end is not None:
            raise end


def test_an_interrupt_loses_nothing(course: Course) -> None:
    """What was graded is stored on the way out."""
    with Gradebook(course.db_url) as gradebook, pytest.raises(KeyboardInterrupt):
        store_two(course, gradebook, KeyboardInterrupt())

    assert stored(course) == ["ana", "ben"]


def test_files_come_before_scores(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score never stands without the notebooks it was given for; grading again mends the rest."""

    def fail(*_: object, **__: object) -> None:
        raise GradebookError("gradebook", "is locked", "Wait.")

    with Gradebook(course.db_url) as gradebook:
        with monkeypatch.context() as patch:
            patch.setattr(gradebook, "store_many", fail)
            with pytest.raises(GradebookError, match="is locked"):
                store_two(course, gradebook)
        notebook = course.autograded("ana", ASSIGNMENT) / "exercise3_forward.ipynb"
        assert read_notebook(notebook)["cells"]
        assert stored(course) == []

        store_two(course, gradebook)
    assert stored(course) == ["ana", "ben"]


def test_a_locked_gradebook_is_waited_for(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grading goes on meanwhile; what waits is stored as soon as the lock is gone."""
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    monkeypatch.setattr(storage, "FLUSH_AFTER_S", 0.0)
    for student in ("ana", "ben"):
        course.submitted(student, ASSIGNMENT).mkdir(parents=True)
    with (
        closing(sqlite3.connect(course.gradebook, isolation_level=None, check_same_thread=False)) as other,
        Gradebook(course.db_url) as gradebook,
        Store(course, gradebook, load_settings(course.root)) as store,
    ):
        other.execute("BEGIN EXCLUSIVE")
        for student in ("ana", "ben"):
            store.add(graded(student))
            assert course.autograded(student, ASSIGNMENT).is_dir()
        unlock = threading.Timer(0.3, other.execute, ["ROLLBACK"])
        unlock.start()
        store.flush()
        unlock.join()

    assert stored(course) == ["ana", "ben"]


def test_a_gradebook_that_stays_locked_ends_the_batch(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is graded has its files; grading again gives the scores."""
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    monkeypatch.setattr(storage, "LOCKED_FOR_S", 0.1)
    course.submitted("ana", ASSIGNMENT).mkdir(parents=True)
    with (
        closing(sqlite3.connect(course.gradebook, isolation_level=None)) as other,
        Gradebook(course.db_url) as gradebook,
    ):
        store = Store(course, gradebook, load_settings(course.root))
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(GradebookLockedError, match="is locked"), store:
            store.add(graded("ana"))
    assert course.autograded("ana", ASSIGNMENT).is_dir()


def test_equal_results_are_kept_once() -> None:
    """What is kept of a large class stays small, and is what it was."""
    known: dict[CellResult, CellResult] = {}
    results = [
        Submission(student, share).result for student, share in (("ana", "1"), ("ben", "1"), ("cem", "0"))
    ]

    ana, ben, cem = (sharing(result, known) for result in results)

    assert [ana, ben, cem] == results
    assert ana.notebooks[0].cells[0] is ben.notebooks[0].cells[0]
    assert ana.notebooks[0].cells[0] is not cem.notebooks[0].cells[0]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_batch_is_one_json_document_in_pieces(count: int) -> None:
    """However many results there are; no piece holds more than one of them."""
    results = tuple(Submission(student=f"s{number}").result for number in range(count))
    lost = Misplaced(student="", where="submitted/x.ipynb", what="is nobody's", remedy="Move it.")
    batch = Batch(
        assignment=ASSIGNMENT,
        elapsed_s=1.23456,
        results=results,
        not_graded=(NotGraded("ana", 'a "reason"\n'),),
        unchanged=("cem",),
        ignored={"béla": ("one", "two")},
        misplaced=(lost,),
    )

    pieces = list(batch.to_json())

    assert json.loads("".join(pieces)) == {
        "assignment": ASSIGNMENT,
        "results": [result.to_dict() for result in results],
        "not_graded": [{"student": "ana", "reason": 'a "reason"\n'}],
        "unchanged": ["cem"],
        "ignored": {"béla": ["one", "two"]},
        "misplaced": [{"where": "submitted/x.ipynb", "what": "is nobody's", "remedy": "Move it."}],
        "elapsed_s": 1.235,
    }
    assert max(piece.count('"notebooks"') for piece in pieces) <= 1
