"""The trusted side of one worker: start it, talk to it, kill it."""

from __future__ import annotations

import os
import secrets
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import SandboxError
from autograder.files import files_beside
from autograder.sandbox.cells import CellRun
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.sandbox.worker import NAME_BYTES
from autograder.sandbox.zygote import NOTHING, Origin
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
    from autograder.sandbox.slot import Child, End, Slot

# The worker interrupts honest code itself at the limit; after this it is killed.
_GRACE_S = 1.5
# A process that is ending closes its connection a little earlier.
_END_TIMEOUT_S = 1.0
_START_TIMEOUT_S = 20.0
_ANSWER_BYTES = 1 << 20
_ANSWER_PER_REQUEST = 16
# One character may become two JSON escapes of six bytes.
_ESCAPED = 12
_MIB = 2**20


class Worker:
    """
    One process that runs one notebook.

    Parameters
    ----------
    slot : Slot
        Where it runs.
    limits : Limits
        What it may use.
    files : sequence of Path
        Folders whose files, other than notebooks, the notebook finds beside
        it; a later folder's file replaces an earlier one's of the same name.
    seed : int
        Seeds the process's global random generators.
    origin : Origin
        What it is forked from. Where there are files beside the notebook its
        given cells may need them, and are left for the notebook to run.

    Attributes
    ----------
    outputs : tuple of list of dict
        What each given cell has shown, cleaned: of all of them, or of none if
        they are still to be run.

    Raises
    ------
    SubmissionError
        If a folder of files cannot be read.
    SandboxError
        If the process does not come up.
    """

    def __init__(
        self,
        slot: Slot,
        limits: Limits,
        *,
        files: Sequence[Path] = (),
        seed: int = 0,
        origin: Origin = NOTHING,
    ) -> None:
        self.limits = limits
        self._slot = slot
        self._scope = ""
        # Found before there is a process: a folder that cannot be read leaves none behind.
        beside = [(folder, path) for folder in files for path in files_beside(folder)]
        origin = replace(origin, given=()) if beside else origin
        child = slot.fork(limits, seed=seed, origin=origin)
        self.outputs = child.zygote.outputs
        self._child: Child | None = child
        try:
            self._wait_until_ready()
            for folder, path in beside:
                self._send_file(path, path.relative_to(folder).as_posix())
        except (LimitReached, WorkerDied) as end:
            self._end()
            what = f"the files beside the notebook cannot be handed over ({end})"
            raise SandboxError("sandbox", what, "Raise the limit file_mib, or remove the files.") from None

    def run_cell(self, source: str, *, snapshot: str = "", graded: bool = False) -> CellRun:
        """
        Run one cell.

        Parameters
        ----------
        source : str
            The cell's source.
        snapshot : str
            If not empty, what the notebook's names stand for after the cell
            is remembered under this name.
        graded : bool
            True for a test cell: it is run as it was handed out, whatever
            cells before have changed of how cells are run.

        Returns
        -------
        CellRun
            What it shows and how it ended, as the worker tells it.

        Raises
        ------
        LimitReached
            If the cell had to be killed; the worker is gone.
        WorkerDied
            If the cell ended the process; the worker is gone.
        """
        return CellRun.told(self._cell(source, snapshot, graded=graded))

    def run_cell_again(self, source: str, *, snapshot: str = "", graded: bool = False) -> None:
        """
        Run one cell of which nobody wants to know what it shows.

        Parameters
        ----------
        source, snapshot : str
            As in `run_cell`.
        graded : bool
            As there.

        Raises
        ------
        LimitReached
            If the cell had to be killed; the worker is gone.
        WorkerDied
            If the cell ended the process; the worker is gone.
        """
        self._cell(source, snapshot, graded=graded)

    def scope(self, name: str) -> None:
        """Let the notebook's names, from the next request on, stand again for what a snapshot remembers."""
        self._scope = name

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
        name, self._scope = self._scope.encode(), ""
        head = b"n" + len(name).to_bytes(NAME_BYTES) + name
        return self._ask(head + request, _ANSWER_BYTES + _ANSWER_PER_REQUEST * len(request))

    def close(self) -> None:
        """Kill the process and remove its folder; closing again does nothing."""
        self._end()

    def _end(self, *, renew: bool = False, restart: bool = False) -> End | None:
        child, self._child = self._child, None
        return None if child is None else self._slot.reap(child, renew=renew, restart=restart)

    def _wait_until_ready(self) -> None:
        assert self._child is not None  # noqa: S101 - it was just forked
        try:
            receive_frame(
                self._child.socket, limit_bytes=_ANSWER_BYTES, deadline_s=time.monotonic() + _START_TIMEOUT_S
            )
        except (DeadlineError, WireError):
            # No student code has run yet: this is the machine's failure.
            self._end()
            reason = self._slot.complaint()
            raise SandboxError(
                "sandbox", f"a process cannot be confined{reason}", "Run `autograder doctor`."
            ) from None

    def _send_file(self, path: Path, name: str) -> None:
        try:
            if path.stat().st_size > self.limits.file_mib * _MIB:
                raise LimitReached("file_mib")
            content = np.frombuffer(path.read_bytes(), np.uint8)
        except OSError as error:
            self._end()
            raise SandboxError(path, f"cannot be read ({error.strerror})", "Check the file.") from None
        self._cells({"op": "file", "path": name, "content": content})

    def _cell(self, source: str, snapshot: str, *, graded: bool) -> dict[str, Any]:
        limit_bytes = self.limits.output_kib * 1024 * _ESCAPED + _ANSWER_BYTES
        return self._cells(
            {"op": "cell", "source": source, "snapshot": snapshot, "graded": graded}, limit_bytes
        )

    def _cells(self, message: dict[str, Any], limit_bytes: int = _ANSWER_BYTES) -> dict[str, Any]:
        payload = self._ask(b"c" + encode(message), limit_bytes)
        try:
            answer = decode(payload)
        except WireError:
            answer = None
        if not isinstance(answer, dict):
            self._end(restart=True)
            raise WorkerDied("protocol")
        return answer

    def _ask(self, payload: bytes, limit_bytes: int) -> bytes:
        if self._child is None:
            raise WorkerDied("exit")
        sock = self._child.socket
        call_id = secrets.randbits(64)
        deadline_s = time.monotonic() + self.limits.wall_time_s + _GRACE_S
        try:
            forged = has_waiting_bytes(sock)
            send_frame(sock, call_id, payload, deadline_s=deadline_s)
            answer_id, answer = receive_frame(sock, limit_bytes=limit_bytes, deadline_s=deadline_s)
        except DeadlineError:
            self._end()
            raise LimitReached("wall_time_s") from None
        except ClosedError:
            raise self._death() from None
        except WireError:
            self._end(restart=True)
            raise WorkerDied("protocol") from None
        if forged or answer_id != call_id:
            # Bytes that came before the call, or for another call, answer nothing.
            self._end(restart=True)
            raise WorkerDied("protocol")
        return answer

    def _death(self) -> Exception:
        ended = self._child is not None and self._child.ends_within(_END_TIMEOUT_S)
        end = self._end(renew=ended, restart=not ended)
        if not ended:
            # It has closed the connection and lives on.
            return WorkerDied("protocol")
        if end is not None and end.full:
            return LimitReached("file_mib")
        code = os.WTERMSIG(end.status) if end is not None and os.WIFSIGNALED(end.status) else 0
        if code in {signal.SIGXCPU, signal.SIGKILL}:
            return LimitReached("cpu_time_s")
        return WorkerDied(_signal_name(code) if code else "exit")


def _signal_name(code: int) -> str:
    # Signals for real time have numbers only.
    return signal.Signals(code).name if code in set(signal.Signals) else f"signal {code}"
