"""The grades of an assignment, gathered from the gradebook for an LMS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.errors import CourseError, nearest
from autograder.gradebook import Gradebook
from autograder.gradebook.comments import read_comments
from autograder.lms.grades import Beside, grades_of
from autograder.publishing import scores_and_reasons

if TYPE_CHECKING:
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
    scores, reasons = scores_and_reasons(course, assignment)
    known = [score.student for score in scores]
    for option, names in (("--excuse", chosen.excused), ("--student", chosen.students)):
        for name in names:
            if name not in known:
                raise CourseError(option, f"the course has no student {name!r}", nearest(name, known))
    with Gradebook(course.db_url) as gradebook:
        people = gradebook.people(assignment)
    beside = Beside(
        reasons=reasons,
        people=people,
        excused=chosen.excused,
        unfinished=chosen.unfinished,
        comments=read_comments(course.db_url, assignment),
    )
    grades = grades_of(scores, beside)
    return tuple(grade for grade in grades if not chosen.students or grade.student in chosen.students)
