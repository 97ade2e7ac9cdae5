"""The commands `feedback` and `report`: pages from what was graded."""

from __future__ import annotations

import contextlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from autograder.errors import OperatorError, SubmissionError
from autograder.feedback import FeedbackWriter
from autograder.gradebook import Gradebook
from autograder.gradebook.comments import read_comments
from autograder.progress import progress_bar
from autograder.report import write_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.results import SubmissionResult
    from autograder.scores import StudentScore

_GROUP = 10
"""Students whose feedback a process writes at a time."""

_GROUPS_FOR_A_PROCESS = 5
"""A process takes as long to start as some forty pages to write."""


def publish_feedback(
    course: Course, assignment: str, students: Sequence[str], *, jobs: int = 1, quiet: bool = True
) -> dict[str, Path]:
    """
    Write feedback pages, with what people graded and wrote by hand.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    students : sequence of str
        Students whose submission is graded.
    jobs : int
        Processes that write; a small class needs one only.
    quiet : bool
        False to show a progress bar.

    Returns
    -------
    dict of str to Path
        Each student's page.

    Raises
    ------
    SubmissionError
        If graded notebooks cannot be read; the pages of all others are written.
    AutograderError
        If the gradebook cannot be read, or a page not be written.
    """
    with Gradebook(course.db_url) as gradebook:
        scores = {score.student: score for score in gradebook.scores(assignment)}
    comments = read_comments(course.db_url, assignment)
    work = [_Work(student, scores.get(student), comments.get(student)) for student in students]
    groups = [work[start : start + _GROUP] for start in range(0, len(work), _GROUP)]
    pages: dict[str, Path] = {}
    unreadable: list[SubmissionError] = []
    with progress_bar(quiet=quiet) as bar, _mapped(course, assignment, jobs, groups) as written:
        task = bar.add_task(f"{assignment}: feedback", total=len(work))
        for group in written:
            for student, outcome in group:
                if isinstance(outcome, SubmissionError):
                    unreadable.append(outcome)
                else:
                    pages[student] = outcome
            bar.advance(task, len(group))
    if len(unreadable) > 1:
        where, what = f"{len(unreadable)} submissions", f"have no feedback; the first: {unreadable[0]}"
        raise SubmissionError(where, what, "The feedback of all others is written.")
    if unreadable:
        raise unreadable[0]
    return pages


@dataclass(frozen=True, slots=True)
class _Work:
    """One student's feedback, as it is sent to the process that writes it."""

    student: str
    score: StudentScore | None
    comments: Mapping[tuple[str, str], str] | None


@contextlib.contextmanager
def _mapped(
    course: Course, assignment: str, jobs: int, groups: list[list[_Work]]
) -> Iterator[Iterable[list[tuple[str, Path | SubmissionError]]]]:
    """Return what becomes of each group, written here or, if there are many, in some processes."""
    jobs = min(jobs, len(groups) // _GROUPS_FOR_A_PROCESS)
    if jobs < 2:  # noqa: PLR2004 - one other process would only take longer to start
        writer = FeedbackWriter(course, assignment)
        yield (_write(writer, group) for group in groups)
        return
    # Spawned, not forked: a process starts clean, whatever threads the caller has.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as executor:
        try:
            yield executor.map(_write_there, [(course, assignment, group) for group in groups])
        except BrokenProcessPool:
            what = "a process that writes feedback was ended from outside"
            raise OperatorError("feedback", what, "Check the machine's memory, run again.") from None
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def _write(writer: FeedbackWriter, group: list[_Work]) -> list[tuple[str, Path | SubmissionError]]:
    outcomes: list[tuple[str, Path | SubmissionError]] = []
    for one in group:
        try:
            page = writer.write(one.student, score=one.score, comments=one.comments)
        except SubmissionError as error:
            outcomes.append((one.student, error))
        else:
            outcomes.append((one.student, page))
    return outcomes


def _write_there(task: tuple[Course, str, list[_Work]]) -> list[tuple[str, Path | SubmissionError]]:
    """Write a group's feedback in a process of a pool."""
    course, assignment, group = task
    return _write(_writer(course, assignment), group)


@cache
def _writer(course: Course, assignment: str) -> FeedbackWriter:
    """Return the writer that a process of a pool keeps."""
    return FeedbackWriter(course, assignment)


def publish_report(
    course: Course, assignment: str, results: Sequence[SubmissionResult] | None = None
) -> Path:
    """
    Write the page on the class.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    results : sequence of SubmissionResult, optional
        By default those of the graded notebooks.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    AutograderError
        If graded notebooks or the gradebook cannot be read.
    """
    with Gradebook(course.db_url) as gradebook:
        scores = gradebook.scores(assignment)
        reasons = gradebook.failures(assignment)
    return write_report(course, assignment, results, scores=scores, reasons=reasons)
