"""Grade in this process with one slot: `python -m bench.slot COURSE TIER COUNT` prints seconds for one."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from autograder import grader
from autograder.course import Course
from autograder.sandbox.wall import Tier, Wall, require
from autograder.settings import load_settings
from bench.courses import ASSIGNMENT


def main(root: str, tier: str, count: str) -> None:
    """Grade one submission to get warm, then as many as asked for, by the clock."""
    course = Course(root=Path(root))
    wanted = Tier(tier)

    def no_better(*, allow_unsafe: bool) -> Wall:
        wall = require(allow_unsafe=allow_unsafe)
        return wall if wall.tier > wanted else replace(wall, tier=wanted)

    grader.require = no_better  # type: ignore[attr-defined]
    students = course.students(ASSIGNMENT)[: int(count) + 1]
    with grader.Grader(course, load_settings(course.root, unsafe_no_sandbox=True)) as one:
        one.grade_submission(ASSIGNMENT, students[0])
        start_s = time.perf_counter()
        for student in students[1:]:
            one.grade_submission(ASSIGNMENT, student)
        sys.stdout.write(f"{(time.perf_counter() - start_s) / (len(students) - 1)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
