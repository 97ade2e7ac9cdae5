"""Grades many submissions at a time, under any executor, and loses none."""

from __future__ import annotations

import multiprocessing
import tempfile
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course import Course
from autograder.errors import OperatorError, SandboxError, SubmissionError
from autograder.grader import GradedSubmission, Grader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autograder.settings import Settings


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
class Task:
    """
    One submission to grade, as it is sent to the process that does it.

    Parameters
    ----------
    course_root : Path
        The course.
    settings : Settings
        Its settings.
    scratch : Path
        A folder for temporary files, removed by the sender.
    assignment, student : str
        The submission.
    """

    course_root: Path
    settings: Settings
    scratch: Path
    assignment: str
    student: str


def grade_all(
    course: Course,
    settings: Settings,
    assignment: str,
    students: Sequence[str],
    *,
    executor: Executor | None = None,
) -> Iterator[GradedSubmission | NotGraded]:
    """
    Grade submissions and yield each as it is done.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        Its settings; `jobs` submissions run at a time.
    assignment : str
        The assignment.
    students : sequence of str
        Whose submissions.
    executor : Executor, optional
        Runs the tasks. By default processes of this machine.

    Yields
    ------
    GradedSubmission or NotGraded
        One for each student, in the order in which they are done.

    Raises
    ------
    CourseError
        If the assignment, its release or its checks are at fault: then no
        submission can be graded.
    """
    with (
        tempfile.TemporaryDirectory(prefix="autograder-") as scratch,
        _pool(settings, students, executor) as pool,
    ):
        futures: dict[Future[GradedSubmission | NotGraded], str] = {
            pool.submit(grade_one, Task(course.root, settings, Path(scratch), assignment, student)): student
            for student in students
        }
        try:
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    raise OperatorError(
                        "grading",
                        "a grading process was ended from outside",
                        "Check the machine's memory, run again.",
                    ) from None
        finally:
            for future in futures:
                future.cancel()


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
        return _grader(task).grade_submission(task.assignment, task.student)
    except (SubmissionError, SandboxError) as error:
        return NotGraded(task.student, str(error))


_GRADERS: dict[Path, Grader] = {}
"""The grader that this process keeps for the batch it works on, by the batch's scratch folder."""


def _grader(task: Task) -> Grader:
    if task.scratch not in _GRADERS:
        for old in _GRADERS.values():
            old.close()
        _GRADERS.clear()
        _GRADERS[task.scratch] = Grader(Course(root=task.course_root), task.settings, scratch=task.scratch)
    return _GRADERS[task.scratch]


@contextmanager
def _pool(settings: Settings, students: Sequence[str], executor: Executor | None) -> Iterator[Executor]:
    if executor is not None:
        yield executor
        return
    # Spawned, not forked: a grading process starts clean, whatever threads the caller has.
    context = multiprocessing.get_context("spawn")
    workers = max(1, min(settings.jobs, len(students)))
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
