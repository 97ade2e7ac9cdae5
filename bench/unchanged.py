"""What it costs to find out that nothing of a large class has changed, with the kit and with nbgrader."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.course.settings import load_settings
from autograder.gradebook import Entry, Gradebook
from autograder.graded import read_result
from autograder.grading.fingerprint import Fingerprints
from bench import runs
from bench.courses import ASSIGNMENT, STOCK, hand_in

if TYPE_CHECKING:
    from autograder.course.course import Course


def grow(course: Course, count: int) -> None:
    """
    Let many students hand in what the first one did, and be graded as that one.

    Parameters
    ----------
    course : Course
        A course in which the first student is graded.
    count : int
        How many students there are in the end.
    """
    first = course.students(ASSIGNMENT)[0]
    result = read_result(course, ASSIGNMENT, first)
    shutil.rmtree(course.root / "submitted")
    hand_in(course, count)
    prints = Fingerprints(course, load_settings(course.root), ASSIGNMENT)
    students = course.students(ASSIGNMENT)
    for student in students:
        if student != first:
            target = course.autograded(student, ASSIGNMENT)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(course.autograded(first, ASSIGNMENT), target)
    entries = [Entry(replace(result, student=one), fingerprint=prints.of(one)) for one in students]
    with Gradebook(course.db_url) as gradebook:
        gradebook.store_many(entries)


def again(course: Course) -> tuple[float, float]:
    """
    Give both commands again where all is graded.

    Parameters
    ----------
    course : Course
        What `grow` made.

    Returns
    -------
    tuple of (float, float)
        Seconds that `autograder grade` takes, and `nbgrader autograde`.
    """
    config = course.root / "nbgrader_config.py"
    ours = config.read_text(encoding="utf-8")
    start_s = time.perf_counter()
    told = runs.run(course, "grade", ASSIGNMENT, "--json")
    kit_s = time.perf_counter() - start_s
    if told.count('"results": [\n]') != 1:
        message = "something was graded again"
        raise SystemExit(message)
    config.write_text(STOCK, encoding="utf-8")
    start_s = time.perf_counter()
    runs.nbgrader(course)
    nbgrader_s = time.perf_counter() - start_s
    config.write_text(ours, encoding="utf-8")
    return kit_s, nbgrader_s
