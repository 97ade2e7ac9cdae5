"""
Which submissions there is something to grade of, and which are as they were.

A submission is graded again only if what its result depends on has changed,
or if its graded notebooks are not there, whole.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.grading.batch import NotGraded
from autograder.grading.fingerprint import Fingerprints
from autograder.grading.storage import STAGING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autograder.course.course import Course
    from autograder.course.settings import Settings
    from autograder.gradebook import Gradebook, Record

NO_TEXT = "the name of the folder is no UTF-8 text, so the gradebook cannot hold it. Rename the folder."


class Again(Enum):
    """Which submissions are graded although nothing has changed."""

    NOTHING = auto()
    FAILED = auto()
    """Those that could not be graded the last time."""
    EVERYTHING = auto()


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What there is to do.

    Parameters
    ----------
    todo : mapping of str to str
        For each student whose submission is to be graded its fingerprint;
        empty if it has none.
    unchanged : tuple of str
        Students whose submission is graded already.
    failed : tuple of NotGraded
        Submissions that could not be graded, in part at least, and have not changed since.
    """

    todo: dict[str, str]
    unchanged: tuple[str, ...]
    failed: tuple[NotGraded, ...]


class Planner:
    """
    Decides what is to be graded of an assignment.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        The settings in force.
    gradebook : Gradebook
        The course's gradebook.
    assignment : str
        The assignment.
    again : Again
        What is graded although nothing has changed.

    Raises
    ------
    OperatorError
        If the course's secret cannot be used.
    """

    def __init__(
        self,
        course: Course,
        settings: Settings,
        gradebook: Gradebook,
        assignment: str,
        *,
        again: Again = Again.NOTHING,
    ) -> None:
        self._course = course
        self._gradebook = gradebook
        self._assignment = assignment
        self._again = again
        self._fingerprints = Fingerprints(course, settings, assignment)

    def plan(self, students: Iterable[str]) -> Plan:
        """
        Return what is to be done.

        Parameters
        ----------
        students : iterable of str
            Whose submissions.

        Returns
        -------
        Plan
            Each of them in one place.

        Raises
        ------
        GradebookError
            If the gradebook cannot be read.
        """
        records = self._gradebook.records(self._assignment)
        todo: dict[str, str] = {}
        unchanged: list[str] = []
        failed: list[NotGraded] = []
        for student in students:
            fingerprint, record = self.fingerprint(student), records.get(student)
            if not _has_text(student):
                failed.append(NotGraded(student, NO_TEXT))
            elif self._again is Again.EVERYTHING or not self._is_done(student, fingerprint, record):
                todo[student] = fingerprint
            elif record is None or not record.failure:
                unchanged.append(student)
            elif self._again is Again.FAILED:
                todo[student] = fingerprint
            else:
                failed.append(NotGraded(student, record.failure))
        return Plan(todo, tuple(unchanged), tuple(failed))

    def done_meanwhile(self, student: str, fingerprint: str) -> bool:
        """
        Return whether another run has graded a submission since the plan was made.

        Parameters
        ----------
        student : str
            The student's id.
        fingerprint : str
            What the plan says.

        Returns
        -------
        bool
            False for what is to be graded in any case.

        Raises
        ------
        GradebookError
            If the gradebook cannot be read.
        """
        if self._again is Again.EVERYTHING:
            return False
        record = self._gradebook.records(self._assignment, student).get(student)
        return record is not None and not record.failure and self._is_done(student, fingerprint, record)

    def fingerprint(self, student: str) -> str:
        """Return the fingerprint of a submission as it is now; empty if it cannot be read."""
        try:
            return self._fingerprints.of(student)
        except SubmissionError:
            return ""

    def _is_done(self, student: str, fingerprint: str, record: Record | None) -> bool:
        if record is None or not fingerprint or record.fingerprint != fingerprint:
            return False
        return not record.graded or _is_whole(self._course, student, self._assignment)


def _has_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_whole(course: Course, student: str, assignment: str) -> bool:
    """Return whether graded notebooks are there, and nothing that a run left when it was killed."""
    folder = course.autograded(student, assignment)
    staging = STAGING.format(folder.name)
    try:
        with os.scandir(folder.parent) as entries:
            if any(entry.name.startswith(staging) for entry in entries):
                return False
        with os.scandir(folder) as entries:
            # After a power cut, a file may be there without its content.
            return all(entry.stat().st_size > 0 for entry in entries if entry.name.endswith(".ipynb"))
    except OSError:
        return False
