"""Whose work a command is about: who handed in, or was graded, and who of them is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.course.layout import Step
from autograder.errors import CourseError, nearest
from autograder.graded import graded_students
from autograder.submission.misplaced import misplaced

if TYPE_CHECKING:
    from collections.abc import Collection

    from autograder.course.course import Course


def with_work(course: Course, assignments: list[str]) -> list[str]:
    """
    Return the assignments that somebody handed in.

    Parameters
    ----------
    course : Course
        The course.
    assignments : list of str
        Assignments of the course.

    Returns
    -------
    list of str
        At least one of them; if it is only one, that one.

    Raises
    ------
    CourseError
        If nobody handed in anything.
    """
    if len(assignments) == 1:
        if not course.layout.students_in(Step.SUBMITTED, assignments[0]):
            _refuse_misplaced(course, assignments)
        course.students(assignments[0])
        return assignments
    layout = course.layout
    found = [name for name in assignments if layout.students_in(Step.SUBMITTED, name)]
    if not found:
        _refuse_misplaced(course, assignments)
        raise CourseError(layout.shown(Step.SUBMITTED), "nothing was handed in", "Put the notebooks there.")
    return found


def _refuse_misplaced(course: Course, assignments: list[str]) -> None:
    """Say where the work of a class lies, if it is only in a wrong place."""
    lost = [one for name in assignments for one in misplaced(course, name)]
    if lost:
        more = f"; {len(lost) - 1} more in a wrong place" if len(lost) > 1 else ""
        raise CourseError(lost[0].where, f"{lost[0].what}{more}", lost[0].remedy)


def handed_in(course: Course, assignment: str, wanted: Collection[str]) -> list[str]:
    """
    Return the students to grade.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    wanted : collection of str
        Students; none for all who handed in.

    Returns
    -------
    list of str
        Sorted.

    Raises
    ------
    CourseError
        If one of them handed in nothing, or is left out by the configuration.
    """
    for student in course.layout.excluded.intersection(wanted):
        what = "is left out by CourseDirectory.student_id_exclude"
        raise CourseError(student, what, "Take it off that list in nbgrader_config.py first.")
    return _chosen(course.students(assignment), wanted, f"did not hand in {assignment}")


def with_results(course: Course, assignments: list[str]) -> list[str]:
    """
    Return the assignments of which anything is graded.

    Parameters
    ----------
    course : Course
        The course.
    assignments : list of str
        Assignments of the course, at least one.

    Returns
    -------
    list of str
        At least one of them.

    Raises
    ------
    CourseError
        If nothing is graded.
    """
    found = [name for name in assignments if graded_students(course, name)]
    if not found:
        graded(course, assignments[0], ())
    return found


def graded(course: Course, assignment: str, wanted: Collection[str]) -> list[str]:
    """
    Return the students whose submission is graded.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    wanted : collection of str
        Students; none for all.

    Returns
    -------
    list of str
        Sorted.

    Raises
    ------
    CourseError
        If there is none, or one of those wanted is not graded.
    """
    found = graded_students(course, assignment)
    if not found:
        where = course.layout.shown(Step.AUTOGRADED, assignment)
        raise CourseError(where, "nothing is graded yet", f"Run `autograder grade {assignment}`.")
    return _chosen(found, wanted, f"has no graded submission of {assignment}")


def _chosen(found: list[str], wanted: Collection[str], problem: str) -> list[str]:
    for student in wanted:
        if student not in found:
            raise CourseError(student, problem, nearest(student, found))
    return [student for student in found if not wanted or student in wanted]
