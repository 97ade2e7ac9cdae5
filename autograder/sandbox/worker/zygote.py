"""
The warm process from which each notebook's process is forked.

It is started clean and holds no secret and nothing of any student: cells and
files go to the child over the child's own socket. One child at a time; it is
dead and reaped, and its folder is gone, before the next is forked.

Requests come over a packet socket as JSON. ``fork`` carries the child's
socket and names its folder; the answer carries the child's pid and a pidfd.
``reap`` waits for the killed child, ends what it left, removes its folder
and answers with its wait status.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import shutil
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.sandbox.worker.confine import confine
from autograder.sandbox.worker.main import serve
from autograder.sandbox.worker.recorder import Recorder
from autograder.sandbox.worker.shell import make_shell

if TYPE_CHECKING:
    from autograder.sandbox.worker.shell import NotebookShell

_REQUEST_BYTES = 1 << 20
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36

# What most notebooks do, so that no child does it for the first time.
_WARM_UP = (
    "import numpy as np",
    "rng = np.random.default_rng(0); x = rng.normal(size=(5, 6)); np.random.rand(2); x",
    "np.linalg.norm(x); np.einsum('ij,kj->ik', x, x); np.allclose(x, x); np.testing.assert_allclose(x, x)",
    "np.save('warm.npy', x); np.load('warm.npy'); np.where(x > 0, x, -np.inf).max(axis=-1, keepdims=True)",
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
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, _REQUEST_BYTES, 1)
            if not message:
                break
            request = json.loads(message)
            if request["op"] == "fork":
                _fork(control, descriptors[0], request, shell)
            else:
                _reap(control, request)


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


def _fork(control: socket.socket, descriptor: int, request: dict[str, Any], shell: NotebookShell) -> None:
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


def _live(descriptor: int, folder: Path, request: dict[str, Any], shell: NotebookShell) -> None:
    """Be the child; never return into the zygote's loop."""
    try:
        confine(descriptor, folder, request)
        serve(descriptor, shell, request)
    except BaseException:  # noqa: BLE001 - whatever it is, this process ends here
        traceback.print_exc(file=sys.__stderr__)
        os._exit(1)
    os._exit(0)


def _reap(control: socket.socket, request: dict[str, Any]) -> None:
    pid = int(request["pid"])
    _kill(-pid)
    _, status = os.waitpid(pid, 0)
    # Where processes can be forked, orphans have become our children.
    while orphans := _children():
        for orphan in orphans:
            _kill(orphan)
            os.waitpid(orphan, 0)
    _remove(Path(request["folder"]))
    control.send(json.dumps({"status": status}).encode())


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


def _remove(folder: Path) -> None:
    def allow_and_retry(function: Any, path: str, _: object) -> None:
        for place in (Path(path).parent, Path(path)):
            with contextlib.suppress(OSError):
                if not place.is_symlink():
                    place.chmod(0o700)
        with contextlib.suppress(OSError):
            function(path)

    shutil.rmtree(folder, onerror=allow_and_retry)
