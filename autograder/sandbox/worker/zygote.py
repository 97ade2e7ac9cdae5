"""
The warm process from which each notebook's process is forked.

It is started clean and holds no secret and nothing of any student: cells and
files go to the child over the child's own socket. One child at a time; it is
dead and reaped, and its folder is gone, before the next is forked.

Requests come over a packet socket as JSON. ``fork`` carries the child's
socket and names its folder; the answer carries the child's pid and a pidfd.
``reap`` waits for the killed child, ends what it left, removes its folder
and answers with its wait status. While a child lives, the zygote looks ten
times a second at its folder, and kills it if that grows too full.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.sandbox.worker.confine import confine
from autograder.sandbox.worker.folder import is_too_full, remove
from autograder.sandbox.worker.main import serve
from autograder.sandbox.worker.recorder import Recorder
from autograder.sandbox.worker.shell import make_shell

if TYPE_CHECKING:
    from autograder.sandbox.worker.shell import NotebookShell

_REQUEST_BYTES = 1 << 20
_LOOK_EVERY_S = 0.1
_MOST_GENERATIONS = 1000
_MIB = 2**20
# One large file, and a second one in which a copy of it is being made.
_FOLDER_PER_FILE = 2
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36

# What most notebooks do, so that no child does it for the first time.
_WARM_UP = (
    "import numpy as np",
    "rng = np.random.default_rng(0); x = rng.normal(size=(5, 6)); np.random.rand(2); x",
    "np.linalg.norm(x); np.einsum('ij,kj->ik', x, x); np.allclose(x, x); np.testing.assert_allclose(x, x)",
    "np.save('warm.npy', x); np.load('warm.npy'); np.unique(x)",
    "np.where(x > 0, x, -np.inf).max(axis=-1, keepdims=True)",
    "assert x.shape == (6, 5), 'warm'",
    "def f(:",
    # Not an await: the loop it leaves behind holds open files, which no child keeps.
    "import asyncio",
    "from IPython.display import display, Markdown\ndisplay(Markdown('x')); print('warm')",
)
_WARM_UP_PLOTS = (
    "import matplotlib.pyplot as plt",
    "figure, axes = plt.subplots(1, 2)\naxes[0].imshow(x); axes[0].set_title('$x_1$')",
    "plt.plot([1, 2]); plt.text(0, 0, 'x'); plt.colorbar(plt.imshow(x)); plt.show()",
)


def main(descriptor: int, *, plots: bool, fonts: str) -> None:
    """
    Warm up, then fork children on request until the other side closes.

    Parameters
    ----------
    descriptor : int
        File descriptor of the connected packet socket.
    plots : bool
        True to load matplotlib as well.
    fonts : str
        A folder with matplotlib's list of fonts.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if plots:
        # matplotlib takes its list only from a folder that it may write to.
        shutil.copytree(fonts, os.environ["MPLCONFIGDIR"], dirs_exist_ok=True)
    shell = _warm(plots=plots)
    # Not readable by a child through /proc or ptrace, should all else fail.
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as control:
        control.send(b'{"ready": true}')
        _serve(control, shell)


def _serve(control: socket.socket, shell: NotebookShell) -> None:
    child: _Child | None = None
    while True:
        if child is not None and not child.full and not _readable(control):
            child.look()
            continue
        message, descriptors, _, _ = socket.recv_fds(control, _REQUEST_BYTES, 1)
        if not message:
            break
        request = json.loads(message)
        if request["op"] == "fork":
            child = _fork(control, descriptors[0], request, shell)
        elif child is not None:
            _reap(control, child)
            child = None
    if child is not None:
        _end(child.pid)


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


def _warm(*, plots: bool) -> NotebookShell:
    shell = make_shell(Recorder(1 << 20))
    for source in (*_WARM_UP, *(_WARM_UP_PLOTS if plots else ())):
        shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
    Path("warm.npy").unlink(missing_ok=True)
    if plots:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - the other zygote does without

        plt.close("all")
        # Loaded fonts hold open files, which no child keeps.
        from matplotlib import font_manager  # noqa: PLC0415 - the same

        font_manager._get_font.cache_clear()  # type: ignore[attr-defined]  # noqa: SLF001 - no other way
    shell.reset(new_session=True)  # type: ignore[no-untyped-call]
    shell.recorder.start()
    return shell


def _fork(control: socket.socket, descriptor: int, request: dict[str, Any], shell: NotebookShell) -> _Child:
    folder = Path(request["folder"])
    for path in (folder, folder / "notebook", folder / "home"):
        path.mkdir(mode=0o700)
    pid = os.fork()
    if pid == 0:
        _live(descriptor, folder, request, shell)
    os.close(descriptor)
    pidfd = os.pidfd_open(pid)
    socket.send_fds(control, [json.dumps({"pid": pid}).encode()], [pidfd])
    os.close(pidfd)
    return _Child(pid, request)


def _live(descriptor: int, folder: Path, request: dict[str, Any], shell: NotebookShell) -> None:
    """Be the child; never return into the zygote's loop."""
    try:
        confine(descriptor, folder, request)
        serve(descriptor, shell, request)
    except BaseException:  # noqa: BLE001 - whatever it is, this process ends here
        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)
    os._exit(0)


def _reap(control: socket.socket, child: _Child) -> None:
    status = _end(child.pid)
    remove(child.folder)
    control.send(json.dumps({"status": status, "full": child.full}).encode())


def _end(pid: int) -> int:
    """Kill a child with all that it started, and return its wait status."""
    _kill(pid)
    _kill(-pid)
    _, status = os.waitpid(pid, 0)
    # Where processes can be forked, orphans have become our children, and may fork once more.
    for _ in range(_MOST_GENERATIONS):
        orphans = _children()
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
