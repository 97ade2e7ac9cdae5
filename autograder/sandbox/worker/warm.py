"""
What is done before a notebook's process is forked, so that none does it for itself.

That is loading what most notebooks use, and running the given cells: the code
cells with which every notebook of an assignment begins, written by its
instructor, before the first one that a student may write.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import sys
import threading
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.sandbox.worker.notes import Notes
from autograder.sandbox.worker.recorder import Recorder
from autograder.sandbox.worker.replaced import Replaced
from autograder.sandbox.worker.shell import make_shell, run_cell

if TYPE_CHECKING:
    from autograder.sandbox.worker.shell import NotebookShell

_KIB = 2**10
_OPEN_FILES = 256
# Where matplotlib keeps fonts that formulas were set in.
_MATHS = {"matplotlib.mathtext", "matplotlib._mathtext"}

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
_DRAWING = """
plt.imshow(np.eye(3)); plt.colorbar()
plt.plot([1, 2]); plt.text(0, 0, 'x'); plt.title('$x_1$'); plt.show()
"""
_WARM_UP_PLOTS = ("import numpy as np, matplotlib.pyplot as plt", _DRAWING)


def warm_shell() -> NotebookShell:
    """Return the process's shell, with what most notebooks use loaded."""
    shell = make_shell(Recorder(1 << 20))
    _run(shell, _WARM_UP)
    Path("warm.npy").unlink(missing_ok=True)
    shell.notes = Notes()
    shell.replaced = Replaced(shell, shell.notes)
    return shell


def warm_plots(shell: NotebookShell, fonts: str) -> None:
    """
    Load matplotlib as well.

    Parameters
    ----------
    shell : NotebookShell
        The process's shell; no notebook's cell has run in it.
    fonts : str
        A folder with matplotlib's list of fonts.
    """
    # matplotlib takes its list only from a folder that it may write to.
    shutil.copytree(fonts, os.environ["MPLCONFIGDIR"], dirs_exist_ok=True)
    _run(shell, _WARM_UP_PLOTS)
    _put_away_plots()


def run_given(
    shell: NotebookShell, cells: list[str], request: dict[str, Any]
) -> tuple[list[Any] | None, Any]:
    """
    Run the given cells.

    Parameters
    ----------
    shell : NotebookShell
        The process's shell.
    cells : list of str
        Their sources.
    request : dict
        ``folder``, a new folder to run them in, and ``limits``.

    Returns
    -------
    outputs : list of list of dict, or None
        What each cell shows. None if a process that is forked now would not
        be what it is when it runs them itself: because one raises, takes too
        long, writes a file, or leaves a thread, a process, an open file or
        mapped memory.
    drawn : object
        The state of `random`, which forgets it in a fork, if they have used
        it or numpy's global generator; None if not.
    """
    before, folder, outputs = Path.cwd(), Path(request["folder"]), []
    limits = request["limits"]
    shell.recorder.limit_bytes = limits["output_kib"] * _KIB
    # What they draw without a seed of their own is the same at every grading.
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - it is the legacy generator that is shared
    is_open, untouched = _open_files(), _generators()
    folder.mkdir(mode=0o700)
    os.chdir(folder)
    try:
        for source in cells:
            ending = run_cell(shell, source, wall_time_s=limits["wall_time_s"])
            outputs.append(shell.recorder.outputs)
            if ending.error or any(output["output_type"] == "error" for output in outputs[-1]):
                return None, None
        drawn = None if _generators() == untouched else random.getstate()
        _put_away_plots()
        is_left = any(folder.iterdir()) or _open_files() - is_open or _is_accompanied() or _maps_memory()
        return None if is_left else outputs, drawn
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)
        shell.recorder.start()


def _generators() -> object:
    """Return the state of the generators that a process has one of, to compare."""
    _, keys, *rest = np.random.get_state()  # noqa: NPY002 - it is the legacy generator that is shared
    return random.getstate(), np.asarray(keys).tobytes(), tuple(rest)


def _run(shell: NotebookShell, cells: tuple[str, ...]) -> None:
    for source in cells:
        shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
    shell.reset(new_session=True)  # type: ignore[no-untyped-call]
    shell.recorder.start()


def _put_away_plots() -> None:
    """Let go of fonts: they hold open files, which no child keeps."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
        gc.unfreeze()
        for cached in gc.get_objects():
            if isinstance(cached, _lru_cache_wrapper) and (
                cached.__module__ in _MATHS or cached.__qualname__ == "_get_font"
            ):
                cached.cache_clear()
        gc.collect()


def _open_files() -> set[int]:
    """Return the numbers of the open file descriptors; /proc tells them to root alone."""
    found = set()
    for number in range(_OPEN_FILES):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.add(number)
    return found


def _maps_memory() -> bool:
    """Tell whether given cells have made memory that forks could share."""
    mmap = sys.modules.get("mmap")
    return mmap is not None and any(isinstance(one, mmap.mmap) for one in gc.get_objects())


def _is_accompanied() -> bool:
    """Tell whether there is another thread here, or a process below this one."""
    if threading.active_count() > 1:
        return True
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True
