"""The trusted side of one worker: start it, talk to it, kill it."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import SandboxError
from autograder.files import Beside, files_for_code
from autograder.sandbox.cells import CellRun
from autograder.sandbox.forged import CLOSED, NO_ANSWER, OTHER_CALL, in_place_of_answer, unasked
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.sandbox.notes import noted
from autograder.sandbox.worker import NAME_BYTES, NOTES_BYTES
from autograder.sandbox.zygote import NOTHING, Origin
from autograder.wire.codec import decode, encode
from autograder.wire.frames import (
    ClosedError,
    DeadlineError,
    FrameError,
    WireError,
    has_waiting_bytes,
    receive_frame,
    send_frame,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from autograder.sandbox.forged import Forged
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.notes import Note
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
# Enough to see what bytes are that nobody asked for.
_PEEKED_BYTES = 1 << 14


class Worker:
    """
    One process that runs one notebook.

    Parameters
    ----------
    slot : Slot
        Where it runs.
    limits : Limits
        What it may use.
    files : sequence of Path or Beside
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
    notes : list of Note
        What it says of the code that has run; whoever reads them takes them away.
    handed_in : tuple of str
        The files beside the notebook that are in the first folder alone.

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
        files: Sequence[Path | Beside] = (),
        seed: int = 0,
        origin: Origin = NOTHING,
    ) -> None:
        self.limits = limits
        self._slot = slot
        self._scope = ""
        # Found before there is a process: a folder that cannot be read leaves none behind.
        places = [Beside.of(place) for place in files]
        beside = [(place.folder, path) for place in places for path in files_for_code(place)]
        origin = replace(origin, given=()) if beside else origin
        child = slot.fork(limits, seed=seed, origin=origin)
        self.outputs = child.zygote.outputs
        self.notes: list[Note] = []
        self.handed_in = _in_first_alone([place.folder for place in places], beside)
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
            raise self._broken(NO_ANSWER)
        return answer

    def _ask(self, payload: bytes, limit_bytes: int) -> bytes:
        if self._child is None:
            raise WorkerDied("exit")
        sock = self._child.socket
        call_id = secrets.randbits(64)
        deadline_s = time.monotonic() + self.limits.wall_time_s + _GRACE_S
        try:
            early = _waiting(sock) if has_waiting_bytes(sock) else b""
            send_frame(sock, call_id, payload, deadline_s=deadline_s)
            answer_id, answer = receive_frame(sock, limit_bytes=limit_bytes, deadline_s=deadline_s)
        except DeadlineError:
            self._end()
            raise LimitReached("wall_time_s") from None
        except ClosedError:
            raise self._death() from None
        except FrameError as error:
            most_bytes = self.limits.memory_mib * _MIB
            forged = in_place_of_answer(error.start, call_id, most_bytes=most_bytes)
            raise self._broken(unasked(early) if early else forged) from None
        if early or answer_id != call_id:
            # Bytes that came before the call, or for another call, answer nothing.
            raise self._broken(unasked(early) if early else OTHER_CALL)
        return self._without_notes(answer)

    def _without_notes(self, answer: bytes) -> bytes:
        """Keep the notes that come with an answer, and return the answer."""
        stop = NOTES_BYTES + int.from_bytes(answer[:NOTES_BYTES])
        if stop > len(answer):
            raise self._broken(NO_ANSWER)
        if stop > NOTES_BYTES:
            self.notes += noted(answer[NOTES_BYTES:stop])
        return answer[stop:]

    def _broken(self, forged: Forged | None) -> WorkerDied:
        """End everything that the process could have touched, and return what it is told as."""
        self._end(restart=True)
        return WorkerDied("protocol", forged)

    def _death(self) -> Exception:
        ended = self._child is not None and self._child.ends_within(_END_TIMEOUT_S)
        end = self._end(renew=ended, restart=not ended)
        if not ended:
            # It has closed the connection and lives on.
            return WorkerDied("protocol", CLOSED)
        if end is not None and end.full:
            return LimitReached("file_mib")
        code = os.WTERMSIG(end.status) if end is not None and os.WIFSIGNALED(end.status) else 0
        if code in {signal.SIGXCPU, signal.SIGKILL}:
            return LimitReached("cpu_time_s")
        return WorkerDied(_signal_name(code) if code else "exit")


def _waiting(sock: socket.socket) -> bytes:
    """Return the first of the bytes that wait, and leave them there."""
    try:
        return sock.recv(_PEEKED_BYTES, socket.MSG_PEEK)
    except OSError:
        return b""


def _in_first_alone(folders: Sequence[Path], beside: Sequence[tuple[Path, Path]]) -> tuple[str, ...]:
    """Return the files of the first folder that no later one has, as they are called in it."""
    found = [(folder, path.relative_to(folder).as_posix()) for folder, path in beside]
    later = {name for folder, name in found if folder != folders[0]}
    return tuple(name for folder, name in found if folder == folders[0] and name not in later)


def _signal_name(code: int) -> str:
    # Signals for real time have numbers only.
    return signal.Signals(code).name if code in set(signal.Signals) else f"signal {code}"
