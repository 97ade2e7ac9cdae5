"""
A push to Canvas that is killed right after a request that changes something was answered.

Run as a program: ``killed_pushes.py URL FOLDER STOP``; with STOP 0 it runs to its
end. The token is in the environment, the grades are those of `GRADES`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canvas_scenes import Hours, grade, pages
from requests.adapters import HTTPAdapter

from autograder.lms.push.canvas.pushing import CanvasPush, CanvasTarget
from autograder.lms.push.tokens import Source, read_token
from autograder.lms.push.wanted import Wanted

if TYPE_CHECKING:
    from requests import PreparedRequest, Response

GRADES = (
    grade("ana", "9.5", comment="Well done"),
    grade("bo", "8"),
    grade("cem", "0", comment="Come and see me"),
)


def wanted(folder: Path) -> Wanted:
    """Return what is to be in Canvas."""
    return Wanted(assignment="hw1", grades=GRADES, comments=True, feedback=pages(folder, "ana", "bo"))


def main(url: str, folder: Path, stop: int) -> None:
    """Push, and die."""
    send, done = HTTPAdapter.send, 0

    def sending(self: HTTPAdapter, request: PreparedRequest, *args: Any, **settings: Any) -> Response:
        nonlocal done
        answer = send(self, request, *args, **settings)
        done += request.method != "GET"
        if done == stop:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    vars(sys.modules["requests.adapters"])["HTTPAdapter"].send = sending
    token = read_token(Source(what="the token", variable="AUTOGRADER_CANVAS_TOKEN", option="--token-file"))
    target = CanvasTarget(url=url, course="4021", assignment="70311", token=token)
    push = CanvasPush(target, folder, clock=Hours().clock())
    what = wanted(folder)
    for outcome in push.send(push.plan(what), what):
        print(outcome.row.student, outcome.state)  # noqa: T201 - for the test that started it


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
