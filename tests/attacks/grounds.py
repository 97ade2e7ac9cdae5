"""
A grader under attack: a program that fires attacks at its own sandbox and tells what came of them.

It runs as whoever starts it, with what an attacker may want: files of its
own, a secret in them, in its environment and on its command line, and
sockets that listen. It reads one request a line and answers in one line.
"""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from attacks import on_files, on_grader, on_machine  # noqa: E402 - the path comes first
from attacks.attack import WENT_ON, Attack, prelude  # noqa: E402

from autograder.errors import SandboxError  # noqa: E402
from autograder.sandbox import process  # noqa: E402
from autograder.sandbox.evidence import Gathered  # noqa: E402
from autograder.sandbox.limits import LimitReached, Limits, WorkerDied  # noqa: E402
from autograder.sandbox.outputs import shown_bytes  # noqa: E402
from autograder.sandbox.sandbox import Sandbox  # noqa: E402
from autograder.sandbox.wall import Tier, Wall, probe  # noqa: E402
from autograder.sandbox.zygote import Origin  # noqa: E402

if TYPE_CHECKING:
    from attacks.forging import Forger

    from autograder.findings import Evidence
    from autograder.sandbox.process import Worker

ATTACKS: dict[str, Attack] = {
    **on_files.READING,
    **on_files.WRITING,
    **on_machine.NETWORK,
    **on_machine.PROCESSES,
    **on_machine.MEMORY,
    **on_machine.DISK,
    **on_machine.THREADS,
    **on_grader.OUTPUT,
    **on_grader.TIME,
    **on_grader.DEATH,
}
"""Every attack by its name."""

# As notebooks are graded: behind a cell that was run for all of them.
_ORIGIN = Origin(given=("import math",))
# Short limits make a short suite; what is measured is that they hold.
_LIMITS = Limits(notebook_time_s=30, cpu_time_s=20, file_mib=8, output_kib=64)
_GRACE_S = 0.3
_MOST_OUTPUT = 1 << 20
_LONGEST_S = 30.0
_NEXT = "(6 * 7, os.listdir('.'), os.listdir(os.path.expanduser('~')), 'target' in globals())"


class _WithoutLandlock(Wall):
    def confinement(self, readable: Path) -> dict[str, object]:
        return Wall.confinement(self, readable) | {"landlock": None}


class _WithoutSeccomp(Wall):
    def confinement(self, readable: Path) -> dict[str, object]:
        return Wall.confinement(self, readable) | {"seccomp": None}


_WALLS_WITH_HOLES = {
    "landlock": _WithoutLandlock,
    "seccomp": _WithoutSeccomp,
    "place": Wall,
    "nothing": Wall,
}


class Grounds:
    """
    What is attacked.

    Parameters
    ----------
    tier : Tier
        The wall around student code.
    secret : str
        What no attack may show.
    """

    def __init__(self, tier: Tier, secret: str) -> None:
        process._GRACE_S = _GRACE_S
        self.wall = probe(tier)
        self.secret = secret
        self.folder = Path(tempfile.mkdtemp(prefix="attacked-"))
        # Everybody may read it, so that only the wall protects it.
        self.folder.chmod(0o777)
        for name in ("secret.txt", "gradebook.db", "submitted/ben/work.ipynb"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(secret, encoding="utf-8")
            path.chmod(0o666)
        self.listeners = self._listen()
        self.sandbox = Sandbox(self.wall, Path(tempfile.mkdtemp(prefix="scratch-", dir=self.folder)))
        self.before = self._state()
        self.forger: Forger | None = None

    def close(self) -> None:
        """End what was started."""
        if self.forger is not None:
            self.forger.close()

    def answer(self, request: dict[str, str]) -> dict[str, Any]:
        """Return what came of an attack or of a forgery."""
        if "attack" in request:
            return self.fire(request["attack"])
        if "without" in request:
            return {"refusal": self.refusal(request["without"])}
        if self.forger is None:
            # Only here is the rest of the kit needed, which takes a second to load.
            from attacks.forging import Forger  # noqa: PLC0415

            self.forger = Forger(self.wall, Path(tempfile.mkdtemp(prefix="scratch-", dir=self.folder)))
        return self.forger.score(request["forgery"])

    def refusal(self, layer: str) -> str:
        """Return what the self-test says of a wall that lacks a layer."""
        wall = _WALLS_WITH_HOLES[layer](
            **{field.name: getattr(self.wall, field.name) for field in dataclasses.fields(self.wall)}
        )
        # A course that lies where Python's libraries lie can be read.
        with Sandbox(wall, secrets=[Path(os.__file__).parent] if layer == "place" else []) as sandbox:
            try:
                sandbox.start(_LIMITS).close()
            except SandboxError as error:
                return error.what
        return ""

    def fire(self, name: str) -> dict[str, Any]:
        """Run one attack; return how it ended, and what harm was done."""
        attack = ATTACKS[name]
        limits = dataclasses.replace(
            _LIMITS,
            wall_time_s=attack.wall_time_s,
            cpu_time_s=attack.cpu_time_s,
            memory_mib=attack.memory_mib,
        )
        began_s = time.monotonic()
        worker = self.sandbox.start(limits, origin=_ORIGIN)
        assert _run(worker, prelude(self.target))[:2] == (WENT_ON, [])
        end, outputs, evidence = _run(worker, attack.source)
        worker.close()
        took_s = time.monotonic() - began_s
        harm = self._harm(outputs)
        if took_s > _LONGEST_S:
            harm.append(f"took {took_s:.1f} s")
        told = sorted({f"{one.kind} {one.severity}" for one in evidence})
        return {"end": end, "harm": harm, "shown": str(outputs)[:500], "evidence": told}

    @property
    def target(self) -> dict[str, Any]:
        """What the attacker is told."""
        tcp, udp, *_ = self.listeners
        return {
            "secret": str(self.folder / "secret.txt"),
            "gradebook": str(self.folder / "gradebook.db"),
            "submitted": str(self.folder / "submitted"),
            "folder": str(self.folder),
            "grader": os.getpid(),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "socket": str(self.folder / "socket"),
            "abstract": f"\0attacked-{os.getpid()}",
        }

    def _listen(self) -> list[socket.socket]:
        found = []
        for family, kind, address in (
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            (socket.AF_UNIX, socket.SOCK_DGRAM, str(self.folder / "socket")),
            (socket.AF_UNIX, socket.SOCK_DGRAM, f"\0attacked-{os.getpid()}"),
        ):
            listener = socket.socket(family, kind)
            listener.bind(address)
            if kind == socket.SOCK_STREAM:
                listener.listen()
            listener.settimeout(0)
            found.append(listener)
        (self.folder / "socket").chmod(0o666)
        return found

    def _state(self) -> dict[str, Any]:
        """Return what no attack may change."""
        files = {}
        for path in sorted(self.folder.rglob("*")):
            if "scratch-" not in str(path):
                info = path.lstat()
                files[str(path)] = (info.st_mode, info.st_uid, info.st_mtime_ns, info.st_size)
        shared = [name for place in ("/tmp", "/dev/shm", "/") for name in os.listdir(place)]  # noqa: S108, PTH208
        return {"files": files, "attacks": [name for name in shared if name == "attack"]}

    def _harm(self, outputs: list[dict[str, Any]]) -> list[str]:
        harm = []
        # Tier C has no wall: there only the limits are under attack.
        if self.wall.tier is not Tier.C:
            if self.secret in str(outputs):
                harm.append("the secret was shown")
            if self._state() != self.before:
                harm.append("files were changed")
            harm += [f"something came to {one.getsockname()}" for one in self.listeners if _touched(one)]
        if shown_bytes(outputs) > _MOST_OUTPUT:
            harm.append(f"{shown_bytes(outputs)} bytes were shown")
        return harm + self._left_behind()

    def _left_behind(self) -> list[str]:
        """Return what the next student finds of the one before."""
        worker = self.sandbox.start(_LIMITS, origin=_ORIGIN)
        worker.run_cell("import os")
        end, outputs, _ = _run(worker, _NEXT)
        text = outputs[-1].get("data", {}).get("text/plain") if outputs else end
        # The processes of a slot: bubblewrap twice, its zygotes, this student's, and nobody else.
        slot = self.sandbox._slot
        expected = 2 * (self.wall.tier is Tier.A) + 1 + len(slot._trunks) + len(slot._forking) + 1
        count = len(_processes(self.sandbox._runtime.shared))
        worker.close()
        harm = [] if text == "(42, [], [], False)" else [f"the next student finds {text}"]
        return harm + [f"{count} processes instead of {expected}"] * (count != expected)


def _run(worker: Worker, source: str) -> tuple[str, list[dict[str, Any]], tuple[Evidence, ...]]:
    gathered = Gathered()
    try:
        outputs = worker.run_cell(source).outputs
    except LimitReached as limit:
        return f"limit {limit.name}", [], ()
    except WorkerDied as death:
        if death.forged is not None:
            gathered.add_forged("cell", death.forged)
        return f"died {death.cause}", [], gathered.evidence()
    gathered.add_notes("cell", worker.notes)
    worker.notes.clear()
    errors = [output["ename"] for output in outputs if output["output_type"] == "error"]
    return (errors[-1] if errors else WENT_ON), outputs, gathered.evidence()


def _touched(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(100)
    except BlockingIOError:
        return False
    return True


def _processes(mark: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(mark) in path.read_text(errors="replace"):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def main() -> None:
    """Answer requests until there are no more."""
    tier, secret = Tier(sys.argv[1]), sys.argv[2]
    grounds = Grounds(tier, secret)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    wall = grounds.wall
    print(json.dumps({"tier": wall.tier, "missing": wall.missing, "uid": os.getuid()}), file=answers)
    if wall.tier is not tier or wall.refusal:
        return
    with grounds.sandbox:
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps(grounds.answer(request)), file=answers)
        grounds.close()


if __name__ == "__main__":
    main()
