"""The grades of an assignment, gathered from the gradebook for an LMS."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.errors import CourseError, nearest
from autograder.gradebook import Gradebook
from autograder.gradebook.comments import read_comments
from autograder.lms.grades import Beside, grades_of
from autograder.report import handed_in
from autograder.scores import NOT_YET, CellScore, StudentScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autograder.course.course import Course
    from autograder.lms.model import Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """
    Which grades are chosen.

    Parameters
    ----------
    excused : tuple of str
        Students who need not hand in.
    unfinished : bool
        True to give a number to work that waits for a person, too.
    students : tuple of str
        These students only; all if empty.
    """

    excused: tuple[str, ...] = ()
    unfinished: bool = False
    students: tuple[str, ...] = ()


def gather(course: Course, assignment: str, chosen: Chosen) -> tuple[Grade, ...]:
    """
    Return the grade of each student.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    chosen : Chosen
        Which.

    Returns
    -------
    tuple of Grade
        Sorted by student; who handed in nothing is among them.

    Raises
    ------
    CourseError
        If a student is named whom the course does not know.
    AutograderError
        If the gradebook cannot be read.
    """
    with Gradebook(course.db_url) as gradebook:
        stored = gradebook.scores(assignment)
        failures = gradebook.failures(assignment)
        people = gradebook.people(assignment)
    scores, reasons = _everybody(course, assignment, stored, failures)
    known = [score.student for score in scores]
    for option, names in (("--excuse", chosen.excused), ("--student", chosen.students)):
        for name in names:
            if name not in known:
                raise CourseError(option, f"the course has no student {name!r}", nearest(name, known))
    beside = Beside(
        reasons=reasons,
        people=people,
        excused=chosen.excused,
        unfinished=chosen.unfinished,
        comments=read_comments(course.db_url, assignment),
    )
    grades = grades_of(scores, beside)
    return tuple(grade for grade in grades if not chosen.students or grade.student in chosen.students)


def _everybody(
    course: Course, assignment: str, stored: Iterable[StudentScore], failures: dict[str, str]
) -> tuple[list[StudentScore], dict[str, str]]:
    """Return the scores also of those whose work lies in the course only, and why some have none."""
    scores = list(stored)
    graded = {score.student for score in scores if score.submitted}
    reasons = {one: NOT_YET for one in handed_in(course, assignment) if one not in graded} | failures
    unknown = _unknown(course, assignment, reasons.keys() - {one.student for one in scores})
    return sorted([*scores, *unknown], key=lambda one: one.student), reasons


def _unknown(course: Course, assignment: str, students: Iterable[str]) -> Iterator[StudentScore]:
    """Yield empty scores of students whom the gradebook does not know: nothing of theirs was graded."""
    cells = tuple(
        CellScore(notebook=book.name, grade_id=cell.grade_id, max_score=cell.points)
        for book in course.released(assignment)
        for cell in book.graded
    )
    for student in students:
        yield StudentScore(
            student=student,
            first_name="",
            last_name="",
            email="",
            lms_user_id="",
            submitted=False,
            timestamp=None,
            seconds_late=0.0,
            penalty=Decimal(0),
            cells=cells,
        )
