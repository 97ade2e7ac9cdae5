"""The page for instructors: how a class did, which checks fail, which mistakes recur, who needs a look."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.graded import read_results
from autograder.pages.classroom import class_view
from autograder.pages.lessons import lessons
from autograder.pages.student import student_view
from autograder.pages.template import assignment_title, render, write_page
from autograder.scores import NOT_YET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.results import SubmissionResult
    from autograder.scores import StudentScore


def write_report(
    course: Course,
    assignment: str,
    results: Iterable[SubmissionResult] | None = None,
    *,
    scores: Iterable[StudentScore] = (),
    reasons: Mapping[str, str] | None = None,
) -> Path:
    """
    Write the report on an assignment.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    results : iterable of SubmissionResult, optional
        What grading returned; by default what `autograded/` holds.
    scores : iterable of StudentScore, optional
        What the gradebook holds: names, scores given by hand, and how late
        work was. Without it the page shows what the grader found.
    reasons : mapping of str to str, optional
        By student why a submission could not be graded.

    Returns
    -------
    Path
        The page, ``reports/<assignment>.html`` in the course.

    Raises
    ------
    CourseError
        If there is no such assignment.
    OperatorError
        If the page cannot be written.
    """
    lesson = lessons(course.released(assignment))
    by_student = {score.student: score for score in scores}
    graded = read_results(course, assignment) if results is None else results
    students = [
        student_view(result, lesson, score=by_student.get(result.student))
        for result in sorted(graded, key=lambda result: result.student)
    ]
    known = {student.student for student in students}
    ungraded = {student: NOT_YET for student in handed_in(course, assignment) if student not in known}
    path = course.root / "reports" / f"{assignment}.html"
    links = {student: _link(course, assignment, student, path.parent) for student in sorted(known)}
    context = {
        "assignment": assignment_title(assignment),
        "view": class_view(students, ungraded | dict(reasons or {})),
        "links": links,
    }
    return write_page(path, render("report.html.j2", **context))


def handed_in(course: Course, assignment: str) -> list[str]:
    """Return who handed in; nobody if submissions were moved away since."""
    try:
        return course.students(assignment)
    except CourseError:
        return []


def _link(course: Course, assignment: str, student: str, start: Path) -> str:
    """Return the way from the report to a student's feedback, or "" if it is not written."""
    page = course.feedback(student, assignment) / "index.html"
    return os.path.relpath(page, start).replace(os.sep, "/") if page.is_file() else ""
