"""Processes that start clean, are known to who starts them, and end with it."""

from __future__ import annotations

import ctypes
import os
import signal
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

_PR_SET_PDEATHSIG = 1


class _Process(SpawnProcess):
    """A process that is not interrupted while it starts; later it leaves Ctrl-C to its parent."""

    def start(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class SpawningContext(SpawnContext):
    """
    Spawns processes, which start clean whatever threads the caller has, and knows which they are.

    Attributes
    ----------
    started : list of SpawnProcess
        Those that were started.
    """

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **details: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """Return a new process; it is a class where this is a method."""
        process = _Process(*args, **details)
        self.started.append(process)
        return process


def belong_to(parent: int) -> None:
    """
    Let this process end with its parent, and leave Ctrl-C to it.

    Parameters
    ----------
    parent : int
        The parent's process id; if it has gone already, this process ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
