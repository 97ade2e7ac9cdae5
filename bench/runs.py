"""One run of a command, watched from outside: time, first stored result, memory, scores."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.courses import ASSIGNMENT

if TYPE_CHECKING:
    from autograder.course.course import Course

_SCRIPTS = Path(sysconfig.get_path("scripts"))
_LOOK_EVERY_S = 0.01
_WEIGH_EVERY_S = 0.2
_SCORES = """
SELECT student_id, SUM(auto_score) FROM submitted_assignment
JOIN submitted_notebook ON submitted_notebook.assignment_id = submitted_assignment.id
JOIN grade ON grade.notebook_id = submitted_notebook.id GROUP BY student_id
"""


@dataclass(slots=True)
class Run:
    """
    What was seen of a run.

    Parameters
    ----------
    elapsed_s : float
        From the command's start to its end, in seconds.
    cpu_s : float
        Processor time of the command and of the processes that it waited for.
    first_s : float
        From the command's start to the first submission in the gradebook.
    peak_mib : dict of str to float
        The most memory that each trusted process used, by its role and number.
    scores : set of float
        The automatic scores in the gradebook.
    """

    elapsed_s: float = 0.0
    cpu_s: float = 0.0
    first_s: float = 0.0
    peak_mib: dict[str, float] = field(default_factory=dict)
    scores: set[float] = field(default_factory=set)


def autograder(course: Course, *, jobs: int) -> Run:
    """Run `autograder grade` on a course in which nothing is graded yet."""
    command = [str(_SCRIPTS / "autograder"), "grade", ASSIGNMENT, "--jobs", str(jobs), "--json"]
    return _watch(course, [*command, "--course-dir", str(course.root)])


def nbgrader(course: Course) -> Run:
    """Run `nbgrader autograde` on a course in which nothing is graded yet."""
    command = [str(_SCRIPTS / "nbgrader"), "autograde", ASSIGNMENT]
    return _watch(course, [*command, f"--course-dir={course.root}"])


def in_one_process(course: Course, *, tier: str, count: int) -> tuple[float, float]:
    """
    Grade in one process and one slot, behind a wall or without one.

    Parameters
    ----------
    course : Course
        The course.
    tier : str
        ``A``, ``B`` or ``C``: no more than this is built.
    count : int
        How many submissions.

    Returns
    -------
    tuple of (float, float)
        Seconds by the clock and of processor time for one submission, warm.
    """
    command = [sys.executable, "-m", "bench.slot", str(course.root), tier, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    elapsed_s, cpu_s = map(float, done.stdout.split())
    return elapsed_s, cpu_s


def forget(course: Course, seed: Path) -> None:
    """Take back what was graded: the gradebook is as it was, and no graded notebook is there."""
    shutil.copyfile(seed, course.gradebook)
    shutil.rmtree(course.root / "autograded", ignore_errors=True)


def _watch(course: Course, command: list[str]) -> Run:
    run = Run()
    environment = os.environ | {"PATH": f"{_SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    before_s = cpu_of_children_s()
    weighed_s = start_s = time.monotonic()
    with subprocess.Popen(
        command, env=environment, cwd=course.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            time.sleep(_LOOK_EVERY_S)
            now_s = time.monotonic()
            if not run.first_s and _count(course.gradebook):
                run.first_s = now_s - start_s
            if now_s - weighed_s > _WEIGH_EVERY_S:
                weighed_s = now_s
                _weigh(process.pid, run.peak_mib)
        run.elapsed_s = time.monotonic() - start_s
    run.cpu_s = cpu_of_children_s() - before_s
    if process.returncode:
        message = f"{' '.join(command)} ended with {process.returncode}"
        raise SystemExit(message)
    with closing(sqlite3.connect(course.gradebook)) as connection:
        run.scores = {score for _, score in connection.execute(_SCORES)}
    return run


def run(course: Course, *arguments: str) -> str:
    """Run a command of the kit on a course and return what it prints; a failure ends the measurement."""
    command = [str(_SCRIPTS / "autograder"), *arguments, "--course-dir", str(course.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"{' '.join(command)} ended with {done.returncode}: {done.stderr}"
        raise SystemExit(message)
    return done.stdout


def cpu_of_children_s() -> float:
    """Return the processor time of all commands that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _count(gradebook: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{gradebook}?mode=ro", uri=True, timeout=0)) as connection:
            return int(connection.execute("SELECT COUNT(*) FROM submitted_assignment").fetchone()[0])
    except sqlite3.Error:
        # It is being written, or not there yet.
        return 0


def _weigh(command: int, peaks: dict[str, float]) -> None:
    """Note the most memory of a command and of the grading processes that it started."""
    for pid, role in [(command, "command"), *((pid, "grader") for pid in _children(command))]:
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            line = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
        except OSError:
            continue
        # A process that has just ended has no memory any more.
        high = next((row for row in status.splitlines() if row.startswith("VmHWM")), "")
        if high and (role == "command" or "spawn_main" in line):
            peaks[f"{role} {pid}"] = int(high.split()[1]) / 1024


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
