"""
`autograder grade` that is killed, with all its processes, at its nth step.

A step is anything it does to a file of the course, and the beginning and the
end of every transaction. Run as a program: ``killed_runs.py STEP COURSE``;
with step 0 it runs to its end and says on standard error how many there were.
With the word ``quick`` behind it, nothing of the students' is run: the results
are made up, and all else is done as ever. Who is graded is noted in the file
of the variable GRADED.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "shutil.rmtree"}


def main(stop: int, course: str, *, quick: bool) -> None:
    """Grade, and die at a step."""
    from sqlalchemy import Engine, event  # noqa: PLC0415 - only this program needs it

    from autograder.cli import run  # noqa: PLC0415 - the same

    done = 0

    def step(*_: object) -> None:
        nonlocal done
        done += 1
        if done == stop:
            os.killpg(0, signal.SIGKILL)

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        if name in STEPS and arguments and isinstance(arguments[0], str | bytes | os.PathLike):
            place = os.fsdecode(arguments[0])
            if place.startswith(course) and not _reads(name, arguments):
                step()

    sys.addaudithook(watch)
    for name in ("begin", "commit"):
        event.listen(Engine, name, step)
    if quick:
        _make_up_results()
    sys.argv = ["autograder", "grade", "--jobs", "2", "--course-dir", course]
    try:
        run()
    finally:
        print(f"steps: {done}", file=sys.stderr)  # noqa: T201 - for the test that started it


def _make_up_results() -> None:
    """Grade in this process without running anything."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - as above
    from threading import Lock  # noqa: PLC0415 - as above

    from graded_submissions import Submission  # noqa: PLC0415 - as above

    from autograder.grading import batch  # noqa: PLC0415 - as above
    from autograder.results import GradedSubmission  # noqa: PLC0415 - as above

    parsing = Lock()

    def grade_one(task: batch.Task) -> GradedSubmission | batch.NotGraded:
        if "GRADED" in os.environ:
            with Path(os.environ["GRADED"]).open("a", encoding="utf-8") as note:
                note.write(f"{os.getpid()} {task.student}\n")
        if task.student == "dia":
            return batch.NotGraded("dia", "timestamp.txt: holds no time")
        # In older Pythons `ast.parse` fails if two threads call it at once; real graders are processes.
        with parsing:
            one = Submission(task.student)
        return GradedSubmission(one.notebooks, one.result, one.unanswered)

    replaced = {"grade_one": grade_one, "ProcessPoolExecutor": lambda jobs, **_: ThreadPoolExecutor(jobs)}
    vars(batch).update(replaced)


def _reads(name: str, arguments: tuple[Any, ...]) -> bool:
    return name == "open" and not int(arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)


def start(course: Path, stop: int = 0, *, quick: bool = False, **env: str) -> subprocess.Popen[str]:
    """Start what `grade` does, with these variables in its environment."""
    return subprocess.Popen(
        [sys.executable, __file__, str(stop), str(course), *(["quick"] if quick else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | env,
    )


def grade(course: Path, stop: int = 0, *, quick: bool = False) -> subprocess.CompletedProcess[str]:
    """
    Grade a course in a session of its own, and kill all of it at a step.

    Parameters
    ----------
    course : Path
        The course.
    stop : int
        The step, from 1; 0 for none.
    quick : bool
        True to make results up.

    Returns
    -------
    CompletedProcess
        With the exit code, -9 if it was killed.
    """
    process = start(course, stop, quick=quick)
    stdout, stderr = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], quick="quick" in sys.argv)
