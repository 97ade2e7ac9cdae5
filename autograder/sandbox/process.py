"""The trusted side of one worker: start it, talk to it, kill it."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autograder.errors import SandboxError
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.wire.codec import decode, encode
from autograder.wire.frames import (
    ClosedError,
    DeadlineError,
    WireError,
    has_waiting_bytes,
    receive_frame,
    send_frame,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from autograder.sandbox.limits import Limits
    from autograder.sandbox.runtime import Runtime

_START_TIMEOUT_S = 60.0
# The worker interrupts honest code itself at the limit; after this it is killed.
_GRACE_S = 1.5
_ANSWER_BYTES = 1 << 20
_ANSWER_PER_REQUEST = 16
# Text may grow six times as JSON escapes.
_ESCAPED = 6
_REAP_TIMEOUT_S = 10.0


class Worker:
    """
    One process that runs one notebook.

    Parameters
    ----------
    runtime : Runtime
        Where the worker's modules are.
    limits : Limits
        What it may use.
    files : sequence of Path
        Folders whose files, other than notebooks, the notebook finds beside
        it; a later folder's file replaces an earlier one's of the same name.
    seed : int
        Seeds the process's global random generators.

    Raises
    ------
    SandboxError
        If the process does not come up.
    """

    def __init__(
        self, runtime: Runtime, limits: Limits, *, files: Sequence[Path] = (), seed: int = 0
    ) -> None:
        self.limits = limits
        self.folder = runtime.new_folder()
        environment = runtime.environment(self.folder)
        for folder in files:
            _copy_files(folder, self.folder)
        runtime.add_fonts(self.folder)
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                runtime.command(theirs.fileno()),
                pass_fds=(theirs.fileno(),),
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._started(seed)

    def run_cell(self, source: str) -> tuple[Any, str | None]:
        """
        Run one cell.

        Parameters
        ----------
        source : str
            The cell's source.

        Returns
        -------
        tuple of (object, str or None)
            The outputs as the worker reports them, not to be trusted, and
            the limit that stopped the cell, if one did.

        Raises
        ------
        LimitReached
            If the cell had to be killed; the worker is gone.
        WorkerDied
            If the cell ended the process; the worker is gone.
        """
        limit_bytes = self.limits.output_kib * 1024 * _ESCAPED + _ANSWER_BYTES
        answer = self._cells({"op": "cell", "source": source}, limit_bytes)
        limit = answer.get("limit")
        return answer.get("outputs"), limit if isinstance(limit, str) else None

    def snapshot(self, name: str) -> None:
        """Remember what the notebook's names stand for now."""
        self._cells({"op": "snapshot", "name": name})

    def scope(self, name: str) -> None:
        """Let the notebook's names stand again for what they stood for at a snapshot."""
        self._cells({"op": "scope", "name": name})

    def request(self, request: bytes) -> bytes:
        """
        Return the worker's answer to a request about the notebook's names.

        Parameters
        ----------
        request : bytes
            An encoded request, see `autograder.sandbox.worker.dispatcher`.

        Returns
        -------
        bytes
            The answer, still encoded and not to be trusted.

        Raises
        ------
        LimitReached
            If the code had to be killed; the worker is gone.
        WorkerDied
            If the code ended the process; the worker is gone.
        """
        return self._ask(b"n" + request, _ANSWER_BYTES + _ANSWER_PER_REQUEST * len(request))

    def close(self) -> None:
        """Kill the process with all it started in its session, and remove its folder."""
        self._socket.close()
        self._kill()
        for folder in (self.folder, self.folder.parent / f"{self.folder.name}-home"):
            shutil.rmtree(folder, ignore_errors=True)

    def _started(self, seed: int) -> None:
        settings = asdict(self.limits) | {"seed": seed}
        deadline_s = time.monotonic() + _START_TIMEOUT_S
        try:
            send_frame(self._socket, 0, encode(settings), deadline_s=deadline_s)
            receive_frame(self._socket, limit_bytes=_ANSWER_BYTES, deadline_s=deadline_s)
        except (WireError, DeadlineError):
            self.close()
            raise SandboxError(
                "worker", "the process for student code does not start", "Run `autograder doctor`."
            ) from None

    def _cells(self, message: dict[str, Any], limit_bytes: int = _ANSWER_BYTES) -> dict[str, Any]:
        payload = self._ask(b"c" + encode(message), limit_bytes)
        try:
            answer = decode(payload)
        except WireError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise WorkerDied("protocol")
        return answer

    def _ask(self, payload: bytes, limit_bytes: int) -> bytes:
        call_id = secrets.randbits(64)
        deadline_s = time.monotonic() + self.limits.wall_time_s + _GRACE_S
        try:
            forged = has_waiting_bytes(self._socket)
            send_frame(self._socket, call_id, payload, deadline_s=deadline_s)
            answer_id, answer = receive_frame(self._socket, limit_bytes=limit_bytes, deadline_s=deadline_s)
        except DeadlineError:
            self.close()
            raise LimitReached("wall_time_s") from None
        except ClosedError:
            raise self._death() from None
        except WireError:
            self.close()
            raise WorkerDied("protocol") from None
        if forged or answer_id != call_id:
            # Bytes that came before the call, or for another call, answer nothing.
            self.close()
            raise WorkerDied("protocol")
        return answer

    def _death(self) -> Exception:
        try:
            code = self._process.wait(_REAP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            code = 0
        self.close()
        if code in {-signal.SIGXCPU, -signal.SIGKILL}:
            return LimitReached("cpu_time_s")
        return WorkerDied(signal.Signals(-code).name if code < 0 else "exit")

    def _kill(self) -> None:
        if self._process.poll() is None:
            # The process is not reaped yet, so its number cannot be another's.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(_REAP_TIMEOUT_S)


def _copy_files(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        # A link could name any file of the machine.
        if path.is_symlink() or path.suffix == ".ipynb":
            continue
        if path.is_dir():
            if not place.exists():
                place.mkdir()
        elif path.is_file() and place.parent.is_dir():
            shutil.copyfile(path, place)
