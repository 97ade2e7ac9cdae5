"""
Grades many submissions at a time, under any executor, and loses none.

Nothing of the grader itself is imported here: that is for the processes that
grade, which start while the caller imports what it needs to store grades.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import tempfile
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from autograder.course import Course
from autograder.errors import OperatorError, SandboxError, SubmissionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autograder.grader import Grader
    from autograder.results import GradedSubmission
    from autograder.settings import Settings

_HEAD_START_S = 2.0
_AHEAD = 4
"""Submissions handed over for each one that is graded at the same time; more would only fill memory."""


@dataclass(frozen=True, slots=True)
class NotGraded:
    """
    A submission that could not be graded; it has no score.

    Parameters
    ----------
    student : str
        The student's id.
    reason : str
        What is wrong and what to do, in one line.
    """

    student: str
    reason: str


@dataclass(frozen=True, slots=True)
class Desk:
    """
    What a grading process needs to know of the batch it works on.

    Parameters
    ----------
    course_root : Path
        The course.
    settings : Settings
        Its settings.
    scratch : Path
        A folder for temporary files, removed by the sender.
    """

    course_root: Path
    settings: Settings
    scratch: Path


@dataclass(frozen=True, slots=True)
class Task:
    """
    One submission to grade, as it is sent to the process that does it.

    Parameters
    ----------
    desk : Desk
        The batch it belongs to.
    assignment, student : str
        The submission.
    """

    desk: Desk
    assignment: str
    student: str


class Graders:
    """
    Processes that grade; a context manager.

    On entering, they start to get ready, while the caller does other things.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        Its settings; `jobs` submissions are graded at a time.
    assignment : str
        The assignment to get ready for; others can be graded too.
    count : int
        The submissions there are: there is no use in more processes.
    executor : Executor, optional
        Runs the tasks. By default processes of this machine.

    Attributes
    ----------
    settings : Settings
        The settings.
    """

    def __init__(
        self,
        course: Course,
        settings: Settings,
        assignment: str,
        *,
        count: int,
        executor: Executor | None = None,
    ) -> None:
        self.settings = settings
        self._stack = contextlib.ExitStack()
        scratch = self._stack.enter_context(
            # After an error, a process that grades may still be at work in it.
            tempfile.TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True)
        )
        self._desk = Desk(course.root, settings, Path(scratch))
        self._jobs = max(1, min(settings.jobs, count))
        self._own = executor is None
        self._executor = executor or ProcessPoolExecutor(
            self._jobs,
            # Spawned, not forked: a grading process starts clean, whatever threads the caller has.
            mp_context=multiprocessing.get_context("spawn"),
            initializer=get_ready,
            initargs=(Task(self._desk, assignment, ""),),
        )
        # Processes start with their first task.
        self._starting = self._executor.submit(_nothing) if self._own else None

    def __enter__(self) -> Self:
        """Return the graders."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes; after an error, without waiting for what they do."""
        with self._stack:
            if self._own:
                self._executor.shutdown(wait=kind is None, cancel_futures=True)

    def grade(self, assignment: str, students: Sequence[str]) -> Iterator[GradedSubmission | NotGraded]:
        """
        Grade submissions and yield each as it is done.

        A few are handed over at a time and none is kept, so that memory does
        not grow with the class.

        Parameters
        ----------
        assignment : str
            The assignment.
        students : sequence of str
            Whose submissions.

        Yields
        ------
        GradedSubmission or NotGraded
            One for each student, in the order in which they are done.

        Raises
        ------
        CourseError
            If the assignment, its release or its checks are at fault: then no
            submission can be graded.
        OperatorError
            If the machine fails.
        """
        waiting = iter(students)
        open_tasks: set[Future[GradedSubmission | NotGraded]] = set()
        try:
            while True:
                for student in waiting:
                    task = Task(self._desk, assignment, student)
                    open_tasks.add(self._start_alone(task) or self._executor.submit(grade_one, task))
                    if len(open_tasks) >= _AHEAD * self.settings.jobs:
                        break
                if not open_tasks:
                    return
                done, open_tasks = wait(open_tasks, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BrokenProcessPool:
            what = "a grading process was ended from outside"
            raise OperatorError("grading", what, "Check the machine's memory, run again.") from None
        finally:
            for future in open_tasks:
                future.cancel()

    def _start_alone(self, task: Task) -> Future[GradedSubmission | NotGraded] | None:
        """Hand over the first task of all to the first process; one that starts beside it would delay it."""
        starting, self._starting = self._starting, None
        if starting is None:
            return None
        wait([starting], timeout=_HEAD_START_S)
        first = self._executor.submit(grade_one, task)
        wait([first], timeout=_HEAD_START_S)
        return first


def grade_all(
    course: Course,
    settings: Settings,
    assignment: str,
    students: Sequence[str],
    *,
    executor: Executor | None = None,
) -> Iterator[GradedSubmission | NotGraded]:
    """
    Grade submissions of an assignment and yield each as it is done.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        Its settings; `jobs` submissions are graded at a time.
    assignment : str
        The assignment.
    students : sequence of str
        Whose submissions.
    executor : Executor, optional
        Runs the tasks. By default processes of this machine.

    Yields
    ------
    GradedSubmission or NotGraded
        As of `Graders.grade`, which says what is raised.
    """
    with Graders(course, settings, assignment, count=len(students), executor=executor) as graders:
        yield from graders.grade(assignment, students)


def grade_one(task: Task) -> GradedSubmission | NotGraded:
    """
    Grade one submission in the calling process.

    Parameters
    ----------
    task : Task
        The submission.

    Returns
    -------
    GradedSubmission or NotGraded
        The result, or why there is none.
    """
    try:
        return _grader(task.desk).grade_submission(task.assignment, task.student)
    except (SubmissionError, SandboxError) as error:
        return NotGraded(task.student, str(error))


def get_ready(task: Task) -> None:
    """
    Start in the calling process what grading an assignment needs.

    Parameters
    ----------
    task : Task
        Any submission of the assignment.
    """
    # What fails here fails again with the first submission, and is told there.
    with contextlib.suppress(Exception):
        _grader(task.desk).prepare(task.assignment)


_GRADERS: dict[Path, Grader] = {}
"""The grader that this process keeps for the batch it works on, by the batch's scratch folder."""


def _grader(desk: Desk) -> Grader:
    if desk.scratch not in _GRADERS:
        for old in _GRADERS.values():
            old.close()
        _GRADERS.clear()
        # The process that sends tasks does without all this.
        from autograder.sandbox.sandbox import launched  # noqa: PLC0415

        # What student code is forked from gets ready while the rest is imported.
        sandbox = launched(desk.settings, secrets=[desk.course_root], scratch=desk.scratch)
        from autograder.grader import Grader  # noqa: PLC0415

        _GRADERS[desk.scratch] = Grader(Course(root=desk.course_root), desk.settings, sandbox)
    return _GRADERS[desk.scratch]


def _nothing() -> None:
    """Do nothing, in a process that starts for it."""
