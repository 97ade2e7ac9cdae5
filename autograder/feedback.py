"""
Feedback pages: what one student earned, why, and what to look at next.

They show the student's own work and the results of grading it. Hidden tests,
expected values and notes for course staff are not on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.errors import OperatorError
from autograder.graded import read_graded, result_of
from autograder.pages.blocks import blocks, notebook_title
from autograder.pages.template import assignment_title, render, write_page
from autograder.pages.views import student_view

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from autograder.course import Course
    from autograder.scores import StudentScore


def write_feedback(
    course: Course,
    assignment: str,
    student: str,
    *,
    score: StudentScore | None = None,
    comments: Mapping[tuple[str, str], str] | None = None,
) -> Path:
    """
    Write the feedback pages of a graded submission.

    A page for each notebook carries the name that nbgrader gives it;
    ``index.html`` is the overview.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    student : str
        The student's id.
    score : StudentScore, optional
        What the gradebook holds of the student: scores given by hand, and
        how late the work was. Without it the pages show what the grader found.
    comments : mapping of tuple to str, optional
        What a person wrote, by notebook and grade_id.

    Returns
    -------
    Path
        The overview.

    Raises
    ------
    CourseError
        If there is no such assignment, or the student's work is not graded.
    SubmissionError
        If a graded notebook cannot be read.
    OperatorError
        If a page cannot be written.
    """
    notebooks = read_graded(course, assignment, student)
    result = result_of(course, assignment, student, notebooks)
    released = {book.name: book for book in course.released(assignment)}
    titles = {name: notebook_title(book) for name, book in released.items()}
    view = student_view(result, titles, score=score, comments=comments)
    folder = course.feedback(student, assignment)
    context = {"assignment": assignment_title(assignment), "view": view}
    for book in view.books:
        page = folder / f"{book.name}.html"
        if book.missing:
            _forget(page)
            continue
        mine = {grade_id: text for (name, grade_id), text in (comments or {}).items() if name == book.name}
        parts = blocks(notebooks[book.name], released[book.name], book.cells, mine)
        write_page(page, render("notebook.html.j2", book=book, blocks=parts, **context))
    return write_page(folder / "index.html", render("overview.html.j2", **context))


def _forget(page: Path) -> None:
    """Remove the page of a notebook that is no longer part of the submission."""
    try:
        page.unlink(missing_ok=True)
    except OSError as error:
        raise OperatorError(page, f"cannot be removed ({error.strerror})", "Check rights.") from None
