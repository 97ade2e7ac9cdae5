"""
Feedback pages: what one student earned, why, and what to look at next.

They show the student's own work and the results of grading it. Hidden tests,
expected values and notes for course staff are not on them.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from autograder.errors import OperatorError
from autograder.files import EXCHANGED
from autograder.graded import read_graded, result_of
from autograder.pages.blocks import blocks
from autograder.pages.causes import causes
from autograder.pages.lessons import lessons
from autograder.pages.student import student_view
from autograder.pages.template import assignment_title, render, render_part, write_page
from autograder.results import Status

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from markupsafe import Markup

    from autograder.course.course import Course
    from autograder.notebook import Notebook
    from autograder.pages.views import BookView
    from autograder.results import SubmissionResult
    from autograder.scores import StudentScore

    Comments = Mapping[tuple[str, str], str]


class FeedbackWriter:
    """
    Writes the feedback of one student after the other.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.

    Raises
    ------
    CourseError
        If there is no such assignment.
    """

    def __init__(self, course: Course, assignment: str) -> None:
        self._course = course
        self._assignment = assignment
        self._released = {book.name: book for book in course.released(assignment)}
        self._lessons = lessons(self._released.values())

    def write(
        self, student: str, *, score: StudentScore | None = None, comments: Comments | None = None
    ) -> Path:
        """
        Write the feedback of a graded submission.

        ``index.html`` is all of it. A page for each notebook, with the name
        that nbgrader gives it, holds the part on that notebook.

        Parameters
        ----------
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
            The page with all of it.

        Raises
        ------
        CourseError
            If the student's work is not graded.
        SubmissionError
            If a graded notebook cannot be read.
        OperatorError
            If a page cannot be written.
        """
        notebooks = read_graded(self._course, self._assignment, student)
        result = result_of(self._course, self._assignment, student, notebooks)
        view = student_view(
            result, self._lessons, score=score, comments=comments, causes=self._causes(result, notebooks)
        )
        folder = self._course.feedback(student, self._assignment)
        context = {"assignment": assignment_title(self._assignment), "view": view}
        sections = {
            # Of a notebook that could not be read there is nothing of the student's to show.
            book.name: self._section(
                None if book.not_graded else notebooks.get(book.name), book, comments or {}
            )
            for book in view.books
        }
        for book in view.books:
            page = folder / f"{book.name}.html"
            if book.missing:
                _forget(page)
            else:
                section = sections[book.name]
                write_page(page, render("notebook.html.j2", book=book, section=section, **context))
        overview = write_page(
            folder / "index.html", render("overview.html.j2", sections=list(sections.values()), **context)
        )
        _copy(self._course.autograded(student, self._assignment), folder)
        return overview

    def _causes(
        self, result: SubmissionResult, notebooks: Mapping[str, Notebook]
    ) -> dict[tuple[str, str], str]:
        """Return what kept names from being defined, by notebook and grade_id."""
        return {
            (book.name, grade_id): cause
            for book in result.notebooks
            if book.status is Status.GRADED and book.name in notebooks
            for grade_id, cause in causes(notebooks[book.name], self._released[book.name], book).items()
        }

    def _section(self, notebook: Notebook | None, book: BookView, comments: Comments) -> Markup:
        """Return the part on one notebook, the same on both its pages."""
        mine = {grade_id: text for (name, grade_id), text in comments.items() if name == book.name}
        parts = blocks(notebook, self._released[book.name], book, mine) if notebook is not None else ()
        anchors = {anchor for block in parts for anchor in block.anchors}
        return render_part("book.html.j2", book=book, blocks=parts, anchors=anchors)


def _copy(source: Path, target: Path) -> None:
    """Put beside the pages what nbgrader needs to release them, if the submission came through nbgrader."""
    for name in EXCHANGED:
        path = source / name
        try:
            if path.is_file() and not path.is_symlink():
                shutil.copyfile(path, target / name)
        except OSError as error:
            raise OperatorError(path, f"cannot be copied ({error.strerror})", "Check rights.") from None


def _forget(page: Path) -> None:
    """Remove the page of a notebook that is no longer part of the submission."""
    try:
        page.unlink(missing_ok=True)
    except OSError as error:
        raise OperatorError(page, f"cannot be removed ({error.strerror})", "Check rights.") from None
