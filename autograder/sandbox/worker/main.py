"""A child's life: take its files, then answer one frame after another."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.sandbox.worker import NAME_BYTES, NOTES_BYTES
from autograder.sandbox.worker.calls import Calls
from autograder.sandbox.worker.dispatcher import Dispatcher
from autograder.sandbox.worker.shell import NotebookShell, Timer, WallTimeExceeded, run_cell
from autograder.wire.codec import decode, encode
from autograder.wire.frames import ClosedError, receive_frame, send_frame

if TYPE_CHECKING:
    from autograder.sandbox.worker.recorder import Recorder

_KIB = 2**10


def serve(descriptor: int, shell: NotebookShell, request: dict[str, Any]) -> None:
    """
    Serve one notebook until the other side closes the connection or kills this process.

    Parameters
    ----------
    descriptor : int
        File descriptor of the connected socket.
    shell : NotebookShell
        The process's shell.
    request : dict
        ``folder``, the student's own; ``limits``; ``seed`` for the generators that a process has one of; and
        ``drawn``, the state of `random` if given cells have used them, or None.
    """
    with socket.socket(fileno=descriptor) as sock, contextlib.suppress(ClosedError):
        worker = _Worker(shell, request)
        # From here on nobody reads what is written past the recorder.
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 2)
        os.close(silence)
        send_frame(sock, 0, b"ready")
        while True:
            call_id, payload = receive_frame(sock)
            answer = worker.answer(payload)
            notes = shell.notes.take()
            send_frame(sock, call_id, len(notes).to_bytes(NOTES_BYTES) + notes + answer)


class _Worker:
    def __init__(self, shell: NotebookShell, request: dict[str, Any]) -> None:
        self.wall_time_s: float = request["limits"]["wall_time_s"]
        self.shell = shell
        self.recorder: Recorder = shell.recorder
        self.recorder.limit_bytes = request["limits"]["output_kib"] * _KIB
        # A helper module beside the notebook can be imported, but shadows nothing.
        sys.path.append(os.getcwd())  # noqa: PTH109 - the string is what sys.path takes
        if request["drawn"] is not None:
            # As if the notebook had run the given cells itself; numpy's generator is as they left it.
            random.setstate(request["drawn"])
        else:
            # Forked children would otherwise share the state of the process they come from.
            random.seed(request["seed"])
            np.random.seed(request["seed"])  # noqa: NPY002 - it is the legacy generator that is shared
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.dispatcher = Dispatcher(shell.user_ns)
        assert shell.profile_dir is not None  # noqa: S101 - IPython has made one
        own = (request["folder"], shell.profile_dir.location)
        Calls(shell.notes, shell.replaced.library, own).listen()

    def answer(self, payload: bytes) -> bytes:
        # Every frame says in one byte whether it is about cells or about names.
        kind, body = payload[:1], payload[1:]
        if kind == b"c":
            message = decode(body)
            return encode(getattr(self, f"_{message['op']}")(message))
        stop = NAME_BYTES + int.from_bytes(body[:NAME_BYTES])
        if stop > NAME_BYTES:
            self._scope(body[NAME_BYTES:stop].decode())
        self.recorder.muted = True
        try:
            with Timer(self.wall_time_s):
                return self.dispatcher.answer(body[stop:])
        except WallTimeExceeded:
            return encode({"limit": "wall_time_s"})
        finally:
            self.recorder.muted = False

    def _cell(self, message: dict[str, Any]) -> dict[str, Any]:
        ending = run_cell(
            self.shell, message["source"], wall_time_s=self.wall_time_s, graded=message["graded"]
        )
        with contextlib.suppress(Exception):
            # What it looks at is the notebook's, and may be anything.
            self.shell.replaced.look()
        if message["snapshot"]:
            self.snapshots[message["snapshot"]] = dict(self.shell.user_ns)
        return {"outputs": self.recorder.outputs, **asdict(ending)}

    def _scope(self, name: str) -> None:
        # In place: functions look their helpers up in this very dict.
        names = self.shell.user_ns
        names.clear()
        names.update(self.snapshots[name])
        self.dispatcher = Dispatcher(names)

    def _file(self, message: dict[str, Any]) -> dict[str, Any]:
        """Write a file beside the notebook."""
        path = Path(message["path"])
        # A file of the same name as a folder gives way: the later one wins.
        for parent in reversed(path.parents):
            if parent.is_file():
                parent.unlink()
        if path.is_dir():
            shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(message["content"].tobytes())
        return {}
