"""What it costs to write a submission into the gradebook, by the kit and by nbgrader's interface."""

from __future__ import annotations

import shutil
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autograder.gradebook import Entry, Gradebook
from autograder.graded import read_graded, read_result
from bench.courses import ASSIGNMENT

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course


def by_the_kit(course: Course, seed: Path, *, count: int, group: int) -> float:
    """
    Store the first student's result for many students.

    Parameters
    ----------
    course : Course
        A graded course.
    seed : Path
        An empty gradebook of it; it is left alone.
    count, group : int
        How many students, and how many of them in one transaction.

    Returns
    -------
    float
        Seconds for one submission.
    """
    result = read_result(course, ASSIGNMENT, course.students(ASSIGNMENT)[0])
    entries = [Entry(replace(result, student=f"b{number:05}")) for number in range(count)]
    copy = shutil.copyfile(seed, seed.with_name("kit.db"))
    with Gradebook(f"sqlite:///{copy}") as gradebook:
        start_s = time.perf_counter()
        for first in range(0, count, group):
            gradebook.store_many(entries[first : first + group])
        return (time.perf_counter() - start_s) / count


def by_nbgrader(course: Course, seed: Path, *, count: int) -> float:
    """
    Store the same as `nbgrader autograde` does: student, submission, then each notebook's grades.

    Parameters
    ----------
    course : Course
        A graded course.
    seed : Path
        An empty gradebook of it; it is left alone.
    count : int
        How many students.

    Returns
    -------
    float
        Seconds for one submission.
    """
    import nbformat  # noqa: PLC0415 - it takes seconds, and the kit's side does without
    from nbgrader.api import Gradebook as Stock  # noqa: PLC0415 - the same
    from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades  # noqa: PLC0415 - the same

    books = read_graded(course, ASSIGNMENT, course.students(ASSIGNMENT)[0])
    nodes: dict[str, Any] = {name: nbformat.from_dict(book) for name, book in books.items()}  # type: ignore[no-untyped-call]
    copy = shutil.copyfile(seed, seed.with_name("stock.db"))
    db_url = f"sqlite:///{copy}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start_s = time.perf_counter()
        for number in range(count):
            student = f"b{number:05}"
            with Stock(db_url, ASSIGNMENT) as gradebook:
                gradebook.update_or_create_student(student)
                gradebook.update_or_create_submission(ASSIGNMENT, student)
            for name, node in nodes.items():
                names = {"notebook": name, "assignment": ASSIGNMENT, "student": student, "db_url": db_url}
                SaveAutoGrades().preprocess(node, {"nbgrader": names})
                AssignLatePenalties().preprocess(node, {"nbgrader": names})
        return (time.perf_counter() - start_s) / count
