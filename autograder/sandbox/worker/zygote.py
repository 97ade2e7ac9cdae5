"""
The warm process from which each notebook's process is forked.

It is started clean and holds no secret and nothing of any student: cells and
files go to the child over the child's own socket. One child at a time; it is
dead and reaped, and its folder is gone, before the next is forked.

Requests come over a packet socket as JSON. ``branch`` carries two sockets
and makes another zygote, a fork of this one: it serves the first, and is told
over the second what to get ready before it does, see `_Zygote.get_ready`.
``fork`` carries the child's socket and names its folder; the answer carries
a pidfd of it. ``reap`` waits for the killed child, ends what it
left, removes its folder and answers with its wait status. While a child
lives, the zygote looks ten times a second at its folder, and kills it if that
grows too full.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from autograder.sandbox.worker.confine import confine
from autograder.sandbox.worker.folder import is_too_full, remove
from autograder.sandbox.worker.main import serve
from autograder.sandbox.worker.warm import run_given, warm_plots, warm_shell
from autograder.wire.codec import decode, encode
from autograder.wire.frames import receive_frame, send_frame

if TYPE_CHECKING:
    from autograder.sandbox.worker.shell import NotebookShell

_REQUEST_BYTES = 1 << 20
_DESCRIPTORS = 2
_LOOK_EVERY_S = 0.1
_MOST_GENERATIONS = 1000
_MIB = 2**20
# One large file, and a second one in which a copy of it is being made.
_FOLDER_PER_FILE = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36

_libc = ctypes.CDLL(None)


def main(descriptor: int, *, fonts: str) -> None:
    """
    Warm up, then serve requests until the other side closes.

    Parameters
    ----------
    descriptor : int
        File descriptor of the connected packet socket.
    fonts : str
        A folder with matplotlib's list of fonts, once it is needed.
    """
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    shell = warm_shell()
    # Not readable by a child through /proc or ptrace, should all else fail.
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    _keep_for_good()
    with socket.socket(fileno=descriptor) as control:
        control.send(b'{"ready": true}')
        _Zygote(control, shell, fonts).serve()


class _Zygote:
    """The process itself, as the one that forks others."""

    def __init__(
        self, control: socket.socket, shell: NotebookShell, fonts: str, drawn: object = None
    ) -> None:
        self._control = control
        self._shell = shell
        self._fonts = fonts
        self._child: _Child | None = None
        self._branches: set[int] = set()
        self._drawn = drawn

    def serve(self) -> None:
        """Answer requests until the other side closes."""
        while True:
            if self._child is not None and not self._child.full and not _readable(self._control):
                self._child.look()
                continue
            message, descriptors, _, _ = socket.recv_fds(self._control, _REQUEST_BYTES, _DESCRIPTORS)
            if not message:
                break
            request = json.loads(message)
            if request["op"] == "branch":
                self._branch(*descriptors)
            elif request["op"] == "fork":
                self._fork(descriptors[0], request)
            elif self._child is not None:
                self._reap(self._child)

    def get_ready(self, message: dict[str, Any]) -> dict[str, Any]:
        """
        Load and run what the processes forked from here need.

        Parameters
        ----------
        message : dict
            ``plots``, True to load matplotlib; ``cells``, the sources of given
            cells, with ``folder`` and ``limits`` for them.

        Returns
        -------
        dict
            ``outputs``, as of `run_given`.
        """
        if message["plots"]:
            warm_plots(self._shell, self._fonts)
        if message["cells"]:
            outputs, self._drawn = run_given(self._shell, message["cells"], message)
        else:
            outputs = []
        if message["plots"] or message["cells"]:
            self._shell.replaced.begin()
        _keep_for_good()
        return {"outputs": outputs}

    def _branch(self, control: int, orders: int) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._live_as_branch(parent, control, orders)
        for descriptor in (control, orders):
            os.close(descriptor)
        self._branches = {branch for branch in self._branches if os.waitpid(branch, os.WNOHANG) == (0, 0)}
        self._branches.add(pid)
        self._control.send(b"{}")

    def _live_as_branch(self, parent: int, control: int, orders: int) -> NoReturn:
        """Be another zygote; never return into this one's loop."""
        try:
            self._control.close()
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)
            with socket.socket(fileno=control) as own:
                zygote = _Zygote(own, self._shell, self._fonts, self._drawn)
                with socket.socket(fileno=orders) as sock:
                    call_id, payload = receive_frame(sock)
                    send_frame(sock, call_id, encode(zygote.get_ready(decode(payload))))
                zygote.serve()
        except BaseException:  # noqa: BLE001 - whatever it is, this process ends here
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
        os._exit(0)

    def _fork(self, descriptor: int, request: dict[str, Any]) -> None:
        folder = Path(request["folder"])
        for path in (folder, folder / "notebook", folder / "home"):
            path.mkdir(mode=0o700)
        pid = os.fork()
        if pid == 0:
            _live(descriptor, folder, request | {"drawn": self._drawn}, self._shell)
        os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self._control, [b"{}"], [pidfd])
        os.close(pidfd)
        self._child = _Child(pid, request)

    def _reap(self, child: _Child) -> None:
        status = _end(child.pid, spared=self._branches)
        remove(child.folder)
        self._control.send(json.dumps({"status": status, "full": child.full}).encode())
        self._child = None


def _keep_for_good() -> None:
    """Let no child go through what is here when it looks for garbage: that would copy it."""
    gc.collect()
    gc.freeze()


def _readable(control: socket.socket) -> bool:
    return bool(select.select([control], [], [], _LOOK_EVERY_S)[0])


class _Child:
    """The one child that may live, with what its folder may hold."""

    def __init__(self, pid: int, request: dict[str, Any]) -> None:
        self.pid = pid
        self.folder = Path(request["folder"])
        self.full = False
        self._limit_bytes = request["limits"]["file_mib"] * _FOLDER_PER_FILE * _MIB

    def look(self) -> None:
        """Kill it if its folder is too full."""
        if is_too_full(self.folder, self._limit_bytes):
            self.full = True
            _kill(self.pid)


def _live(descriptor: int, folder: Path, request: dict[str, Any], shell: NotebookShell) -> NoReturn:
    """Be the child; never return into the zygote's loop."""
    try:
        confine(descriptor, folder, request)
        serve(descriptor, shell, request)
    except BaseException:  # noqa: BLE001 - whatever it is, this process ends here
        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)
    os._exit(0)


def _end(pid: int, *, spared: set[int]) -> int:
    """Kill a child with all that it started, and return its wait status."""
    _kill(pid)
    _kill(-pid)
    _, status = os.waitpid(pid, 0)
    # Where processes can be forked, orphans have become our children, and may fork once more.
    for _ in range(_MOST_GENERATIONS):
        orphans = [orphan for orphan in _children() if orphan not in spared]
        if not orphans:
            break
        for orphan in orphans:
            _kill(orphan)
        for orphan in orphans:
            os.waitpid(orphan, 0)
    return status


def _children() -> list[int]:
    try:
        text = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(pid) for pid in text.split()]


def _kill(pid: int) -> None:
    # A negative number is a group; it may be gone already, or not yet a group.
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
