"""The worker's life: set limits, build the shell, then answer one frame after another."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import socket
import sys
from typing import Any

import numpy as np

from autograder.sandbox.worker.dispatcher import Dispatcher
from autograder.sandbox.worker.recorder import Recorder
from autograder.sandbox.worker.shell import NotebookShell, Timer, WallTimeExceeded, make_shell, run_cell
from autograder.wire.codec import decode, encode
from autograder.wire.frames import ClosedError, receive_frame, send_frame

_MIB = 2**20
_KIB = 2**10
_MAX_OPEN_FILES = 64


def main(descriptor: int) -> None:
    """
    Serve one notebook until the other side closes the connection or kills this process.

    Parameters
    ----------
    descriptor : int
        File descriptor of the connected socket.
    """
    sock = socket.socket(fileno=descriptor)
    call_id, payload = receive_frame(sock)
    settings = decode(payload)
    worker = _Worker(settings)
    _limit(settings)
    send_frame(sock, call_id, encode({"ready": True}))
    with contextlib.suppress(ClosedError):
        while True:
            call_id, payload = receive_frame(sock)
            send_frame(sock, call_id, worker.answer(payload))
    os._exit(0)


class _Worker:
    def __init__(self, settings: dict[str, Any]) -> None:
        self.wall_time_s: float = settings["wall_time_s"]
        self.recorder = Recorder(settings["output_kib"] * _KIB)
        self.shell: NotebookShell = make_shell(self.recorder)
        # A helper module beside the notebook can be imported, but shadows nothing.
        sys.path.append(os.getcwd())  # noqa: PTH109 - the string is what sys.path takes
        random.seed(settings["seed"])
        np.random.seed(settings["seed"])  # noqa: NPY002 - it is the legacy generator that forks share
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.dispatcher = Dispatcher(self.shell.user_ns)

    def answer(self, payload: bytes) -> bytes:
        # Every frame says in one byte whether it is about cells or about names.
        kind, body = payload[:1], payload[1:]
        if kind == b"c":
            message = decode(body)
            return encode(getattr(self, f"_{message['op']}")(message))
        self.recorder.muted = True
        try:
            with Timer(self.wall_time_s):
                return self.dispatcher.answer(body)
        except WallTimeExceeded:
            return encode({"limit": "wall_time_s"})
        finally:
            self.recorder.muted = False

    def _cell(self, message: dict[str, Any]) -> dict[str, Any]:
        stopped = run_cell(self.shell, message["source"], wall_time_s=self.wall_time_s)
        return {"outputs": self.recorder.outputs, "limit": "wall_time_s" if stopped else None}

    def _snapshot(self, message: dict[str, Any]) -> dict[str, Any]:
        self.snapshots[message["name"]] = dict(self.shell.user_ns)
        return {}

    def _scope(self, message: dict[str, Any]) -> dict[str, Any]:
        # In place: functions look their helpers up in this very dict.
        names = self.shell.user_ns
        names.clear()
        names.update(self.snapshots[message["name"]])
        self.dispatcher = Dispatcher(names)
        return {}


def _limit(settings: dict[str, Any]) -> None:
    cpu_time_s = int(settings["cpu_time_s"])
    for limit, value in (
        (resource.RLIMIT_AS, settings["memory_mib"] * _MIB),
        (resource.RLIMIT_FSIZE, settings["file_mib"] * _MIB),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))
    # SIGXCPU comes first and can be ignored; the hard limit one second later kills.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_time_s, cpu_time_s + 1))
