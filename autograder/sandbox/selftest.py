"""
A few cheap attacks on our own wall, tried before anything is graded.

The probe finds what a machine can do; this finds what it does. Every attack
is code like a student's. It must fail, or nothing is graded.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import SandboxError
from autograder.sandbox.limits import LimitReached, Limits, WorkerDied
from autograder.sandbox.wall import Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.sandbox.sandbox import Sandbox

# Each raises OSError where the wall holds; ruff reads no code in texts.
_ATTACKS = {
    "read a file of the grader's": "open({secret!r}).read()",
    "change the rights of a file of the grader's": "os.chmod({secret!r}, 0o600)",
    "write outside its folder": "open({outside!r}, 'w')",
    "open a network connection": "socket.socket()",
    "send to a socket that has a name": "socket.socketpair(type=socket.SOCK_DGRAM)",
    "start a process": "os.fork() or os._exit(0)",
    "send a signal": "os.kill({grader}, 0)",
    "see other processes": "os.listdir('/proc')",
    "keep memory where it is not counted": "os.memfd_create('x')",
}
_CELL = """
import os, socket
for name, code in {attacks!r}.items():
    try:
        exec(code)
    except OSError:
        continue
    print(name)
"""


def self_test(sandbox: Sandbox, *, secrets: Sequence[Path] = ()) -> None:
    """
    Attack a sandbox, and refuse it if an attack gets through.

    Behind tier C nothing is tried: there is no wall.

    Parameters
    ----------
    sandbox : Sandbox
        What is attacked.
    secrets : sequence of Path
        Folders that student code must not be able to list.

    Raises
    ------
    SandboxError
        If an attack gets through; it is named.
    """
    if sandbox.wall.tier is Tier.C:
        return
    with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
        # Everybody may read and write it, so that only the wall keeps it.
        Path(folder).chmod(0o777)
        secret = Path(folder) / "secret"
        secret.touch()
        secret.chmod(0o666)
        places = {"secret": str(secret), "outside": f"{folder}/new", "grader": os.getpid()}
        attacks = {name: code.format(**places) for name, code in _ATTACKS.items()}
        attacks |= {f"read {path}": f"os.listdir({str(path)!r})" for path in secrets}
        through = _fire(sandbox, _CELL.format(attacks=attacks))
    if through:
        what = f"student code gets through the wall of tier {sandbox.wall.tier}: it can {through}"
        raise SandboxError(
            "sandbox", what, "Run `autograder doctor`; keep the course out of Python's folders."
        )


def _fire(sandbox: Sandbox, source: str) -> str:
    worker = sandbox.start(Limits())
    try:
        shown = worker.run_cell(source).outputs
    except (LimitReached, WorkerDied) as end:
        return f"end the self-test ({end})"
    finally:
        worker.close()
    texts = [output.get("text") or output.get("ename", "") for output in shown]
    return ", ".join(line for text in texts for line in text.splitlines())
