"""Graders to attack: one for each wall that this machine can build, as root and as an ordinary user."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from attacks.walls import HONEST
from parallel import unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attacks.walls import Wall

ROOT = Path(__file__).resolve().parents[2]
GROUNDS = Path(__file__).with_name("grounds.py")
PEOPLE = ("root", "user")
_AT_A_TIME = 3
_PATIENCE_S = 600
# Nobody has it; an ordinary user needs no more than a number.
_USER = 54321
_SETPRIV = ("setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups", "--")


class Attacked:
    """
    A grader in a process of its own, run by somebody, behind a wall.

    Parameters
    ----------
    tier : str
        The wall.
    person : str
        "root" or "user".
    """

    def __init__(self, tier: str, person: str) -> None:
        command = _as(person)
        self.home = tempfile.TemporaryDirectory(prefix="attacker-", ignore_cleanup_errors=True)
        Path(self.home.name).chmod(0o777)
        secret = secrets.token_hex(8)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        self.process = subprocess.Popen(
            [*command, sys.executable, "-B", str(GROUNDS), tier, f"secret-{secret}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=_environment()
            | {"HOME": self.home.name, "TMPDIR": self.home.name, "MINE": f"secret-{secret}"},
        )
        found = self._read()
        self.tier, self.missing = found["tier"], "; ".join(found["missing"])

    def __enter__(self) -> Self:
        """Return the grader."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.process.communicate()
        self.errors.close()
        self.home.cleanup()

    def fire(self, **request: Any) -> dict[str, Any]:
        """Send one request and return the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            pytest.fail(f"the grader ended: {self.errors.read().decode()[-2000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}


def _as(person: str) -> list[str]:
    """Return the command that runs a Python as somebody, or skip the test."""
    if os.geteuid() != 0:
        if person == "root":
            pytest.skip("only root can grade as root")
        return []
    plain = [*_SETPRIV] if person == "user" else []
    # Root's students, too, run as another user, who must be able to read Python.
    if _starts([*_SETPRIV]):
        return plain
    view = [*_view(), *plain]
    if not _starts([*_view(), *_SETPRIV]):
        pytest.skip("other users cannot read this Python, and bubblewrap cannot show it to them")
    return view


def _view() -> list[str]:
    """Return a command that shows another one this machine with Python where everybody can read it."""
    needed = {Path(name).resolve() for name in (sys.prefix, sys.base_prefix, str(ROOT))}
    needed |= {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")}
    command = ["bwrap", "--dev-bind", "/", "/"]
    closed = {
        next(place for place in reversed(path.parents) if not place.stat().st_mode & 0o001)
        for path in needed
        if any(not place.stat().st_mode & 0o001 for place in path.parents)
    }
    for place in sorted(closed):
        command += ["--perms", "0755", "--tmpfs", str(place)]
        for path in sorted(needed):
            for parent in reversed(path.parents):
                if parent.is_relative_to(place) and parent != place:
                    command += ["--perms", "0755", "--dir", str(parent)]
            if path.is_relative_to(place):
                command += ["--ro-bind", str(path), str(path)]
    return [*command, "--"]


def _starts(command: list[str]) -> bool:
    test = f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); import numpy, autograder; "
    test += f"assert os.__file__ == {os.__file__!r}"
    try:
        done = subprocess.run(
            [*command, sys.executable, "-B", "-c", test], check=False, capture_output=True, env=_environment()
        )
    except OSError:
        return False
    return done.returncode == 0


class Armoury:
    """
    All graders, and the attacks that are on their way to them.

    Attacks mostly wait for a limit, so each grader gets all at once that this
    process will ask of it, in a thread of its own, and the tests fetch the
    answers.

    Parameters
    ----------
    plan : dict
        The requests to each grader, by the unit of tests that asks them, and
        by its tier and person.
    """

    def __init__(self, plan: dict[str, dict[Wall, list[str]]]) -> None:
        self._plan = plan
        self._units = {
            (wall, request): unit
            for unit, walls in plan.items()
            for wall, requests in walls.items()
            for request in requests
        }
        self._threads = ThreadPoolExecutor(_AT_A_TIME)
        self._answers: dict[tuple[Wall, str], Future[dict[str, Any]]] = {}

    def close(self) -> None:
        """End all graders."""
        self._threads.shutdown(cancel_futures=True)

    def fire(self, wall: Wall, request: str) -> dict[str, Any]:
        """Return the answer to a request that was planned, or skip the test."""
        self._begin(self._units[wall, request])
        return self._answers[wall, request].result(timeout=_PATIENCE_S)

    def _begin(self, unit: str) -> None:
        """Send everything that a unit of tests will ask, to those with the most to do first."""
        walls = self._plan.pop(unit, {})
        for wall, requests in sorted(walls.items(), key=lambda item: -len(item[1])):
            for request in requests:
                self._answers[wall, request] = Future()
            self._threads.submit(self._fire_all, wall, requests)

    def _fire_all(self, wall: Wall, requests: list[str]) -> None:
        try:
            with Attacked(*wall) as attacked:
                if attacked.tier != wall[0]:
                    pytest.skip(f"this machine has no tier {wall[0]}: {attacked.missing}")
                for request in requests:
                    self._answers[wall, request].set_result(attacked.fire(**json.loads(request)))
        except BaseException as error:  # noqa: BLE001 - raised again in the tests that wait
            for request in requests:
                if not self._answers[wall, request].done():
                    self._answers[wall, request].set_exception(error)


@pytest.fixture(scope="session")
def armoury(request: pytest.FixtureRequest) -> Iterator[Armoury]:
    """Return all graders, with what the session's tests will ask of them."""
    is_one_of_several = hasattr(request.config, "workerinput")
    plan: dict[str, dict[Wall, list[str]]] = {}
    for item in request.session.items:
        if isinstance(item, pytest.Function) and {"armoury", "shot"} <= set(item.fixturenames):
            parameters: dict[str, Any] = dict(item.callspec.params)
            # What another process will be given is not to be sent from here.
            unit = unit_of(item.nodeid) if is_one_of_several else "all"
            requests = plan.setdefault(unit, {}).setdefault(parameters["wall"], [])
            compared = [HONEST] if "forgery" in json.loads(parameters["shot"]) else []
            # One of them may be what the others are compared with.
            wanted = dict.fromkeys((*compared, parameters["shot"]))
            requests += [one for one in wanted if one not in requests]
    armoury = Armoury(plan)
    yield armoury
    armoury.close()
