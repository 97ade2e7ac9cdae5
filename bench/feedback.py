"""Feedback for a large class, pictures included: a few wrong submissions, graded and copied many times."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from autograder.commands.demo_class import CLASS, write_submission
from autograder.course.course import Course
from bench import runs
from bench.courses import ASSIGNMENT

if TYPE_CHECKING:
    from pathlib import Path

WRONG = ("chidi", "emre", "goran", "hana")
"""Students of the demo class whose pages have a picture of each kind."""


def write_class(base: Course, root: Path, count: int) -> tuple[float, float, float]:
    """
    Grade a few wrong submissions, copy the results, and write everybody's feedback.

    Parameters
    ----------
    base : Course
        A course with nobody in it.
    root : Path
        A new folder for a copy of it.
    count : int
        How many students.

    Returns
    -------
    tuple of (float, float, float)
        Seconds by the clock, seconds of processor time, and MiB written.
    """
    shutil.copytree(base.root, root)
    course = Course(root=root)
    for student in CLASS:
        if student.student in WRONG:
            write_submission(course, student)
    runs.run(course, "grade", ASSIGNMENT, "--json")
    for number in range(count - len(WRONG)):
        graded = course.autograded(WRONG[number % len(WRONG)], ASSIGNMENT)
        shutil.copytree(graded, course.autograded(f"s{number:05}", ASSIGNMENT))
    before_s, start_s = runs.cpu_of_children_s(), time.monotonic()
    runs.run(course, "feedback", ASSIGNMENT, "--jobs", "2", "--json")
    elapsed_s, cpu_s = time.monotonic() - start_s, runs.cpu_of_children_s() - before_s
    written = sum(page.stat().st_size for page in (root / "feedback").rglob("*.html"))
    return elapsed_s, cpu_s, written / 2**20
