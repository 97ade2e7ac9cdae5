"""
`autograder collect` that is killed at its nth step, many times in one process.

A step is anything it does to a file of the course, and the beginning and the
end of every transaction. Run as a program, with the words of each collect as
a JSON list on standard input: {"course": ..., "words": [...], "stop": n}; n is
0 for none. Answers with a list of the exit code (-9 if it was killed) and the
number of steps of each. Each collect is a process of its own, forked from this
one, which has imported everything already.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "shutil.rmtree"}


def main() -> None:
    """Collect, and be killed, as often as is asked for."""
    from sqlalchemy import Engine  # noqa: PLC0415 - only this program needs it

    from autograder.commands import collected, collecting  # noqa: F401, PLC0415 - the same
    from autograder.lms.downloads.recognising import READERS, reader_of  # noqa: PLC0415 - the same

    for lms in READERS:
        reader_of(lms)
    answers = []
    for asked in json.load(sys.stdin):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            _collect(asked, writer, Engine)
        os.close(writer)
        with os.fdopen(reader) as told:
            steps = told.read()
        answers.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), int(steps or 0)])
    json.dump(answers, sys.stdout)


def _collect(asked: dict[str, Any], writer: int, engine: Any) -> None:
    """Collect in this process, and end it."""
    from sqlalchemy import event  # noqa: PLC0415 - as above

    from autograder.cli import main as program  # noqa: PLC0415 - as above

    done = 0

    def step(*_: object) -> None:
        nonlocal done
        done += 1
        if done == asked["stop"]:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        if name in STEPS and arguments and isinstance(arguments[0], str | bytes | os.PathLike):
            reads = name == "open" and not int(arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if os.fsdecode(arguments[0]).startswith(asked["course"]) and not reads:
                step()

    sys.addaudithook(watch)
    for name in ("begin", "commit"):
        event.listen(engine, name, step)
    code = 0
    # What it prints is no answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        program(["collect", *asked["words"], "--json", "--course-dir", asked["course"]], standalone_mode=True)
    except SystemExit as end:
        code = int(end.code or 0)
    os.write(writer, str(done).encode())
    os._exit(code)


def collects(*asked: dict[str, Any]) -> list[tuple[int, int]]:
    """
    Return of each collect the exit code and the number of steps.

    Parameters
    ----------
    *asked : dict
        ``course``, ``words`` and ``stop`` of each, done one after the other.
    """
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [(code, steps) for code, steps in json.loads(done.stdout)]


if __name__ == "__main__":
    main()
