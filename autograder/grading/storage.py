"""Stores graded submissions: notebooks and files in `autograded/`, scores in the gradebook."""

from __future__ import annotations

import glob
import shutil
import stat
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from autograder.course.late import course_penalty
from autograder.errors import GradebookLockedError, OperatorError
from autograder.files import copy_files
from autograder.gradebook import Entry, Record
from autograder.notebook import write_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from autograder.course.course import Course
    from autograder.course.settings import Settings
    from autograder.gradebook import Gradebook
    from autograder.results import GradedSubmission

FLUSH_AFTER_S, FLUSH_AT = 1.0, 50
"""Scores wait for others no longer than this, and for no more than these, before they are stored."""

STAGING = ".{}~"
"""How the folder begins in which a submission's files are written, before they take their place."""

LOCKED_FOR_S, PAUSE_S = 600, 0.2
"""How long in seconds a locked gradebook is waited for before the batch ends, and how long between tries."""
MAX_WAITING = 5 * FLUSH_AT
"""So many scores wait for a locked gradebook while grading goes on."""

READ_ONLY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


class Store:
    """
    Puts graded submissions where nbgrader would have put them; a context manager.

    Files are written at once. The scores of a second's submissions follow in
    one transaction, which costs hardly more than that of one. Whatever ends
    the batch, what was graded is stored on leaving. Should even that fail,
    files are there whose scores are not, and grading again mends it.

    Parameters
    ----------
    course : Course
        The course.
    gradebook : Gradebook
        Its gradebook.
    settings : Settings
        Its settings.
    stored : callable, optional
        Called with the students whose scores have just been stored.
    """

    def __init__(
        self,
        course: Course,
        gradebook: Gradebook,
        settings: Settings,
        stored: Callable[[Iterable[str]], object] = tuple,
    ) -> None:
        self._course = course
        self._gradebook = gradebook
        self._penalty = cache(lambda: course_penalty(course, settings))
        self._stored = stored
        self._entries: list[Entry] = []
        self._stored_at_s = 0.0

    def __enter__(self) -> Self:
        """Return the store; a late-penalty plug-in that cannot be used is told before anything is graded."""
        self._penalty()
        return self

    def __exit__(self, *_: object) -> None:
        """Store the scores that wait."""
        self.flush()

    def add(self, graded: GradedSubmission, fingerprint: str = "") -> None:
        """
        Store a graded submission.

        Parameters
        ----------
        graded : GradedSubmission
            What the grader returned.
        fingerprint : str
            What the result depended on; empty if that is not known.

        Raises
        ------
        SubmissionError
            If a file of the submission cannot be copied; then nothing of it is stored.
        OperatorError
            If a file cannot be written, or the gradebook.
        """
        write_files(self._course, graded)
        self._entries.append(Entry(graded.result, graded.timestamp, graded.unanswered, fingerprint))
        due = time.monotonic() - self._stored_at_s >= FLUSH_AFTER_S
        if due or len(self._entries) >= FLUSH_AT:
            try:
                self._flush()
            except GradebookLockedError:
                # Grading goes on meanwhile.
                if len(self._entries) >= MAX_WAITING:
                    self.flush()

    def fail(self, assignment: str, student: str, reason: str, fingerprint: str = "") -> None:
        """
        Remember that a submission could not be graded; a score of it that is stored stays.

        Parameters
        ----------
        assignment, student : str
            The submission.
        reason : str
            What is wrong and what to do, in one line.
        fingerprint : str
            What the attempt depended on; empty if that is not known.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written.
        """
        # What waits may be an older result of the same student's.
        self.flush()
        records = {student: Record(fingerprint, reason, graded=False)}
        _patiently(lambda: self._gradebook.store_failures(assignment, records))
        self._stored([student])

    def update_penalties(self, assignment: str) -> None:
        """
        Give all late work of an assignment what follows from due date, extensions and scores as they are now.

        Parameters
        ----------
        assignment : str
            The assignment.

        Raises
        ------
        CourseError
            If the course's late-penalty plug-in fails.
        GradebookError
            If the gradebook cannot be written.
        """
        _patiently(lambda: self._gradebook.extensions(assignment).update_penalties(self._penalty))

    def flush(self) -> None:
        """
        Put the scores that wait into the gradebook; wait for it if another program has locked it.

        Raises
        ------
        GradebookError
            If it cannot be written; then they do not wait any longer.
        """
        try:
            _patiently(self._flush)
        finally:
            self._entries.clear()

    def _flush(self) -> None:
        self._stored_at_s = time.monotonic()
        if self._entries:
            self._gradebook.store_many(self._entries, late_penalty=self._penalty())
            students = [entry.result.student for entry in self._entries]
            self._entries.clear()
            self._stored(students)
        self._stored_at_s = time.monotonic()


def _patiently(write: Callable[[], None]) -> None:
    """Write to the gradebook, again and again while another program has locked it."""
    give_up_s = time.monotonic() + LOCKED_FOR_S
    while True:
        try:
            return write()
        except GradebookLockedError:
            if time.monotonic() > give_up_s:
                raise
            time.sleep(PAUSE_S)


def write_files(course: Course, graded: GradedSubmission) -> None:
    """
    Write the graded notebooks of a submission, and the files beside them.

    The folder is written beside its place and then moved there, so that a
    reader finds the old one or the new one, whole.

    Parameters
    ----------
    course : Course
        The course.
    graded : GradedSubmission
        What the grader returned.

    Raises
    ------
    SubmissionError
        If a file of the submission cannot be copied.
    OperatorError
        If a file cannot be written.
    """
    result = graded.result
    target = course.autograded(result.student, result.assignment)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = STAGING.format(target.name)
        for left in target.parent.glob(f"{glob.escape(staging)}*"):
            # By a run that was killed: this one holds the submission.
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=staging, dir=target.parent) as scratch:
            folder = Path(scratch) / target.name
            folder.mkdir()
            for place in course.layout.beside(result.student, result.assignment):
                copy_files(place, folder)
            for name, notebook in graded.notebooks.items():
                write_notebook(folder / f"{name}.ipynb", notebook)
                (folder / f"{name}.ipynb").chmod(READ_ONLY)
            if target.exists():
                target.rename(Path(scratch) / "replaced")
            folder.rename(target)
    except OSError as error:
        raise OperatorError(
            target, f"cannot be written ({error.strerror})", "Check rights and space."
        ) from None
