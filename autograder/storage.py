"""Stores graded submissions: notebooks and files in `autograded/`, scores in the gradebook."""

from __future__ import annotations

import stat
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from autograder.errors import OperatorError
from autograder.files import copy_files
from autograder.gradebook import Entry
from autograder.notebook import write_notebook

if TYPE_CHECKING:
    from autograder.course import Course
    from autograder.gradebook import Gradebook
    from autograder.results import GradedSubmission
    from autograder.settings import Settings

FLUSH_AFTER_S, FLUSH_AT = 1.0, 50
"""Scores wait for others no longer than this, and for no more than these, before they are stored."""

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
    """

    def __init__(self, course: Course, gradebook: Gradebook, settings: Settings) -> None:
        self._course = course
        self._gradebook = gradebook
        self._late_penalty = settings.late_penalty
        self._entries: list[Entry] = []
        self._stored_at_s = 0.0

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Store the scores that wait."""
        self.flush()

    def add(self, graded: GradedSubmission) -> None:
        """
        Store a graded submission.

        Parameters
        ----------
        graded : GradedSubmission
            What the grader returned.

        Raises
        ------
        SubmissionError
            If a file of the submission cannot be copied; then nothing of it is stored.
        OperatorError
            If a file cannot be written, or the gradebook.
        """
        write_files(self._course, graded)
        self._entries.append(Entry(graded.result, graded.timestamp, graded.unanswered))
        due = time.monotonic() - self._stored_at_s >= FLUSH_AFTER_S
        if due or len(self._entries) >= FLUSH_AT:
            self.flush()

    def flush(self) -> None:
        """
        Put the scores that wait into the gradebook.

        Raises
        ------
        GradebookError
            If it cannot be written; then they do not wait any longer.
        """
        entries, self._entries = self._entries, []
        if entries:
            self._gradebook.store_many(entries, late_penalty=self._late_penalty)
        self._stored_at_s = time.monotonic()


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
    submitted = course.submitted(result.student, result.assignment)
    target = course.autograded(result.student, result.assignment)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
            folder = Path(scratch) / target.name
            folder.mkdir()
            for source in (submitted, course.source(result.assignment)):
                copy_files(source, folder)
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
