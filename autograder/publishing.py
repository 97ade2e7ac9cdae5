"""The commands `feedback`, `report` and `export`: pages and files from what was graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.errors import OperatorError
from autograder.feedback import write_feedback
from autograder.gradebook import Gradebook
from autograder.gradebook.comments import read_comments
from autograder.lms.table import write_table
from autograder.report import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from autograder.course import Course
    from autograder.results import SubmissionResult


def publish_feedback(course: Course, assignment: str, students: Sequence[str]) -> dict[str, Path]:
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

    Returns
    -------
    dict of str to Path
        Each student's first page.

    Raises
    ------
    AutograderError
        If graded notebooks or the gradebook cannot be read.
    """
    with Gradebook(course.db_url) as gradebook:
        scores = {score.student: score for score in gradebook.scores(assignment)}
    comments = read_comments(course.db_url, assignment)
    return {
        student: write_feedback(
            course, assignment, student, score=scores.get(student), comments=comments.get(student)
        )
        for student in students
    }


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
    return write_report(course, assignment, results, scores=scores)


def publish_grades(course: Course, assignment: str, path: Path | None = None) -> Path:
    """
    Write the grades as CSV.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    path : Path, optional
        The file. By default ``exports/<assignment>.csv`` in the course.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    AutograderError
        If the gradebook cannot be read or the file not written.
    """
    path = path or course.root / "exports" / f"{assignment}.csv"
    with Gradebook(course.db_url) as gradebook:
        scores = gradebook.scores(assignment)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_table(path, scores)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise OperatorError(path, what, "Check rights and space.") from None
    return path
