"""
Grade in this process with one slot: `python -m bench.slot COURSE TIER COUNT`.

Prints seconds by the clock and of processor time for one submission. The
processor time is that of this process, of the zygotes, and of the student
processes that these have reaped.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from autograder.course.course import Course
from autograder.course.settings import load_settings
from autograder.grader.grader import Grader
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wall import Tier, require
from bench.courses import ASSIGNMENT


def main(root: str, tier: str, count: str) -> None:
    """Grade one submission to get warm, then as many as asked for, by the clock."""
    course = Course(root=Path(root))
    wall = require(allow_unsafe=True)
    # Tiers are in the order of the alphabet: no better one than was asked for.
    sandbox = Sandbox(replace(wall, tier=max(wall.tier, Tier(tier))), secrets=[course.root])
    students = course.students(ASSIGNMENT)[: int(count) + 1]
    with Grader(course, load_settings(course.root, unsafe_no_sandbox=True), sandbox) as one:
        one.grade_submission(ASSIGNMENT, students[0])
        start_s, start_cpu_s = time.perf_counter(), _cpu_s()
        for student in students[1:]:
            one.grade_submission(ASSIGNMENT, student)
        elapsed_s, cpu_s = time.perf_counter() - start_s, _cpu_s() - start_cpu_s
    sys.stdout.write(f"{elapsed_s / (len(students) - 1)} {cpu_s / (len(students) - 1)}\n")


def _cpu_s() -> float:
    """Return processor time used so far by this process and by what lives below it, the reaped included."""
    ticks = 0
    for pid in _below(os.getpid()):
        # After the name in brackets: user and system time, then those of reaped children.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _below(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text(encoding="utf-8").split()):
            found += [child, *_below(child)]
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
