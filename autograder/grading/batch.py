"""
Grades many submissions at a time, under any executor, and loses none.

Nothing of the grader itself is imported here: that is for the processes that
grade, which start while the caller imports what it needs to store grades.
"""

from __future__ import annotations

import contextlib
import os
import traceback
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from autograder.errors import AutograderError, OperatorError, SandboxError, SubmissionError
from autograder.grading.scratch import scratch_folder
from autograder.grading.spawning import SpawningContext, belong_to

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from autograder.course.course import Course
    from autograder.course.settings import Settings
    from autograder.grader.grader import Grader
    from autograder.results import GradedSubmission

_HEAD_START_S = 2.0
_AHEAD = 4
"""Submissions handed over for each one that is graded at the same time; more would only fill memory."""
_ENDED_IN_A_ROW = 4
"""So many submissions of which each ends its grading process: then it is the machine."""


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
    course : Course
        The course.
    settings : Settings
        Its settings.
    scratch : Path
        A folder for temporary files, removed by the sender.
    """

    course: Course
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

    They start when they are told to, and get ready while the caller does
    other things. If one is ended from outside, for want of memory say, the
    submissions that were being graded are tried again, one at a time.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        The settings; `jobs` submissions are graded at a time.
    assignment : str
        The assignment to get ready for; others can be graded too.
    count : int
        The submissions there are: there is no use in more processes.
    executor : Executor, optional
        Runs the tasks. By default processes of this machine.

    Attributes
    ----------
    course : Course
        The course.
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
        self.course = course
        self._assignment = assignment
        self._jobs = max(1, min(settings.jobs, count))
        self._own = executor is None
        self._executor = executor
        self._starting: Future[None] | None = None
        self._stack = contextlib.ExitStack()
        self._desk: Desk | None = None
        self._context = SpawningContext()
        self._ended = 0

    def __enter__(self) -> Self:
        """Return the graders."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes; after an error, whatever they are doing."""
        with self._stack:
            self._end(at_once=kind is not None)

    def start(self) -> None:
        """Start the processes, if they are not running: they get ready by themselves."""
        if self._desk is None:
            self._desk = Desk(self.course, self.settings, self._stack.enter_context(scratch_folder()))
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self._jobs,
                mp_context=self._context,
                initializer=_get_ready,
                initargs=(Task(self._desk, self._assignment, ""), os.getpid()),
            )
            # Processes start with their first task.
            self._starting = self._executor.submit(_nothing)

    def grade(self, assignment: str, students: Iterable[str]) -> Iterator[GradedSubmission | NotGraded]:
        """
        Grade submissions and yield each as it is done.

        A few are handed over at a time and none is kept, so that memory does
        not grow with the class.

        Parameters
        ----------
        assignment : str
            The assignment.
        students : iterable of str
            Whose submissions; the next is asked for when it can be handed over.

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
        while lost := (yield from self._grade_many(assignment, waiting)):
            yield from self._grade_alone(assignment, lost)

    def _grade_many(
        self, assignment: str, waiting: Iterator[str]
    ) -> Generator[GradedSubmission | NotGraded, None, list[str]]:
        """Grade until all is done, or a process ends; return whose submissions were lost by that."""
        open_tasks: dict[Future[GradedSubmission | NotGraded], str] = {}
        lost: list[str] = []
        try:
            while True:
                for student in waiting if not lost else ():
                    try:
                        open_tasks[self._hand_over(assignment, student)] = student
                    except BrokenProcessPool:
                        lost.append(student)
                    if lost or len(open_tasks) >= _AHEAD * self.settings.jobs:
                        break
                if not open_tasks:
                    return lost
                done, _ = wait(open_tasks, return_when=FIRST_COMPLETED)
                for future in done:
                    student = open_tasks.pop(future)
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        lost.append(student)
        finally:
            for future in open_tasks:
                future.cancel()

    def _grade_alone(
        self, assignment: str, students: Sequence[str]
    ) -> Iterator[GradedSubmission | NotGraded]:
        """Grade submissions of which one ended its process, one after the other."""
        if not self._own:
            raise _ended("grading")
        self._end(at_once=True)
        for student in students:
            try:
                graded = self._hand_over(assignment, student).result()
            except BrokenProcessPool:
                self._end(at_once=True)
                self._ended += 1
                if self._ended >= _ENDED_IN_A_ROW:
                    raise _ended("grading") from None
                yield NotGraded(student, str(_ended(student)))
            else:
                self._ended = 0
                yield graded

    def _hand_over(self, assignment: str, student: str) -> Future[GradedSubmission | NotGraded]:
        self.start()
        assert self._desk is not None  # noqa: S101 - made by `start`
        assert self._executor is not None  # noqa: S101 - the same
        task = Task(self._desk, assignment, student)
        starting, self._starting = self._starting, None
        if starting is None:
            return self._executor.submit(grade_one, task)
        # The first task goes to the first process; one that starts beside it would delay it.
        wait([starting], timeout=_HEAD_START_S)
        first = self._executor.submit(grade_one, task)
        wait([first], timeout=_HEAD_START_S)
        return first

    def _end(self, *, at_once: bool) -> None:
        if self._executor is None or not self._own:
            return
        self._executor.shutdown(wait=not at_once, cancel_futures=True)
        if at_once:
            # What is being graded can take minutes, and nobody wants it any more.
            for process in self._context.started:
                process.kill()
                process.join()
        self._context.started.clear()
        self._executor = None


def _ended(where: str) -> OperatorError:
    what = "the grading process was ended from outside"
    return OperatorError(where, what, "Check the machine's memory, then run again with --retry-failed.")


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
    except AutograderError:
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours stops one submission, never the class
        return NotGraded(task.student, _fault(error))


def _fault(error: Exception) -> str:
    """Return in one line where the kit itself failed."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return (
        f"{place}: the grader itself failed ({type(error).__name__}). "
        "Report it with the submission; --retry-failed tries again."
    )


def _get_ready(task: Task, parent: int) -> None:
    """Start in a process of ours what grading needs."""
    belong_to(parent)
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
        sandbox = launched(desk.settings, secrets=desk.course.layout.guarded, scratch=desk.scratch)
        from autograder.grader.grader import Grader  # noqa: PLC0415

        _GRADERS[desk.scratch] = Grader(desk.course, desk.settings, sandbox)
    return _GRADERS[desk.scratch]


def _nothing() -> None:
    """Do nothing, in a process that starts for it."""
