"""
What was graded, read back from `autograded/`.

Grading leaves its results in the notebooks' metadata, so that feedback and
report can be written at any later time, and by another process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograder.course.layout import Step
from autograder.errors import CourseError, SubmissionError, nearest
from autograder.findings import Evidence, Repair
from autograder.notebook import read_notebook
from autograder.results import CellResult, NotebookResult, Status, SubmissionResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.course.course import Course
    from autograder.course.released import ReleasedNotebook
    from autograder.notebook import Notebook

KEY = "autograder"
"""Where results stand in the metadata of a cell and of a notebook."""


def graded_students(course: Course, assignment: str) -> list[str]:
    """Return the ids of the students with a folder in `autograded/`, sorted."""
    return course.layout.students_in(Step.AUTOGRADED, assignment)


def read_graded(course: Course, assignment: str, student: str) -> dict[str, Notebook]:
    """
    Return a student's graded notebooks.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    student : str
        The student's id.

    Returns
    -------
    dict of str to dict
        The notebooks by name; one that was not handed in is absent.

    Raises
    ------
    CourseError
        If there is no such assignment, or the student's work is not graded.
    SubmissionError
        If a notebook cannot be read.
    """
    folder = course.autograded(student, course.check_assignment(assignment))
    if not folder.is_dir():
        known = graded_students(course, assignment)
        raise CourseError(folder, f"{assignment} of {student} is not graded", nearest(student, known))
    paths = {book.name: folder / f"{book.name}.ipynb" for book in course.released(assignment)}
    return {name: read_notebook(path) for name, path in paths.items() if path.exists()}


def read_result(course: Course, assignment: str, student: str) -> SubmissionResult:
    """
    Return the result of a graded submission.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    student : str
        The student's id.

    Returns
    -------
    SubmissionResult
        What grading returned.

    Raises
    ------
    CourseError
        If there is no such assignment, or the student's work is not graded.
    SubmissionError
        If a notebook cannot be read, or was not graded by this kit.
    """
    return result_of(course, assignment, student, read_graded(course, assignment, student))


def read_results(course: Course, assignment: str) -> list[SubmissionResult]:
    """
    Return the results of all graded submissions of an assignment.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.

    Returns
    -------
    list of SubmissionResult
        By student. A submission that cannot be read is left out: it must not
        keep the class from its report, which names it as not graded.

    Raises
    ------
    CourseError
        If there is no such assignment, or it has no release.
    """
    course.released(assignment)
    results = []
    for student in graded_students(course, assignment):
        try:
            results.append(read_result(course, assignment, student))
        except SubmissionError:
            continue
    return results


def result_of(
    course: Course, assignment: str, student: str, notebooks: Mapping[str, Notebook]
) -> SubmissionResult:
    """
    Return the result that a student's graded notebooks hold.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    student : str
        The student's id.
    notebooks : mapping of str to dict
        What `read_graded` returned.

    Returns
    -------
    SubmissionResult
        What grading returned.

    Raises
    ------
    SubmissionError
        If a notebook was not graded by this kit, or for another release.
    """
    results = []
    sandboxes = set()
    for released in course.released(assignment):
        if released.name not in notebooks:
            results.append(released.not_handed_in())
            continue
        where = course.autograded(student, assignment) / f"{released.name}.ipynb"
        try:
            result, sandbox = _graded(released, notebooks[released.name])
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
            what = "holds no results, or those of another release"
            raise SubmissionError(where, what, f"Run `autograder grade {assignment}`.") from None
        results.append(result)
        sandboxes.add(sandbox)
    return SubmissionResult(
        assignment=assignment, student=student, notebooks=tuple(results), sandbox=", ".join(sorted(sandboxes))
    )


def _graded(released: ReleasedNotebook, notebook: Notebook) -> tuple[NotebookResult, str]:
    cells = {}
    for cell in notebook["cells"]:
        if KEY in cell["metadata"]:
            one = CellResult.from_dict(cell["metadata"][KEY])
            cells[one.grade_id] = one
    about: dict[str, Any] = notebook["metadata"][KEY]
    result = NotebookResult(
        name=released.name,
        status=Status(about["status"]),
        cells=tuple(cells[cell.grade_id] for cell in released.graded),
        repairs=tuple(Repair.from_dict(one) for one in about["repairs"]),
        evidence=tuple(Evidence.from_dict(one) for one in about["evidence"]),
    )
    return result, str(about["sandbox"])
