"""An IPython shell without a kernel, with the behaviour a notebook has in one."""

from __future__ import annotations

import builtins
import re
import signal
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Any as AnyTrait
from traitlets import Type

from autograder.sandbox.worker.calls import SHELL
from autograder.sandbox.worker.ending import Ending, is_shown_by_cell
from autograder.sandbox.worker.graded import Ways
from autograder.sandbox.worker.recorder import Recorder, Stream

if TYPE_CHECKING:
    from types import FrameType

    from autograder.sandbox.worker.notes import Notes
    from autograder.sandbox.worker.replaced import Replaced

# What IPython changes, in a line's beginning, at its end or behind a sign of assignment.
_SPECIAL = re.compile(
    r"^\s*(?:[%!?,;/]|>>>|\.\.\.|In \[)|\?\s*$|=\s*[%!](?!=)|^[^\S\n]+$|[\r\v\f\x1c-\x1e\x85\u2028\u2029]",
    re.MULTILINE,
)
# A loop that catches everything is interrupted again after this time.
_INTERRUPT_AGAIN_S = 0.5


class WallTimeExceeded(BaseException):
    """A cell or a call took longer than `wall_time_s` and was stopped."""


class _Publisher(DisplayPublisher):
    recorder = AnyTrait()

    def publish(self, data: Any, metadata: Any = None, source: Any = None, **_: Any) -> None:  # noqa: ARG002
        """Record what `display` shows."""
        self.recorder.display(_texts(data), _plain(metadata))

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002 - IPython's signature
        """Forget what the cell has shown."""
        self.recorder.clear(wait=wait)


class _DisplayHook(DisplayHook):
    recorder = AnyTrait()
    ending = AnyTrait()

    def fill_exec_result(self, result: object) -> None:
        """Note a value that is shown, and whether an expression of the cell's own shows it."""
        self.ending.show(result, is_own=is_shown_by_cell(sys._getframe(1)))  # noqa: SLF001 - who calls
        super().fill_exec_result(result)  # type: ignore[no-untyped-call]

    def write_output_prompt(self) -> None:
        """Show no prompt: the output has a number of its own."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        """Record the value of the last expression."""
        self.recorder.result(_texts(format_dict), _plain(md_dict), self.prompt_count)

    def finish_displayhook(self) -> None:
        """Print no line end after the value."""


class NotebookShell(InteractiveShell):
    """An IPython shell that records outputs and never touches a terminal."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_DisplayHook)
    recorder: Recorder
    own_steps: list[int]
    ways: Ways
    notes: Notes
    replaced: Replaced
    streams: tuple[Stream, Stream]

    def init_sys_modules(self) -> None:
        """Make the notebook's namespace `__main__`, as in a kernel."""
        super().init_sys_modules()  # type: ignore[no-untyped-call]
        sys.modules["__main__"] = self.user_module

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as Python; IPython takes most time to find nothing that it has to change."""
        if _is_as_written(raw_cell) and self.steps() == self.own_steps:
            return raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"
        return str(super().transform_cell(raw_cell))  # type: ignore[no-untyped-call]

    def should_run_async(self, raw_cell: str, **details: Any) -> bool:
        """Return whether a cell awaits something; IPython compiles it to find out."""
        if "await" not in raw_cell and "async" not in raw_cell:
            return False
        return bool(super().should_run_async(raw_cell, **details))

    def steps(self) -> list[int]:
        """Return how many steps take a cell to Python; a notebook may add its own."""
        manager = self.input_transformer_manager
        lists = (manager.cleanup_transforms, manager.line_transforms, manager.token_transformers)
        return [*map(len, lists), len(self.input_transformers_post)]

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there is no window system here."""

    def ask_exit(self) -> None:
        """Do nothing: `exit()` does not keep later cells from running."""

    def system(self, cmd: str) -> None:
        """Refuse a shell command (`!cmd`, `%pip`)."""
        sys.audit(SHELL, cmd)
        msg = f"shell commands are disabled while grading: {cmd}"
        raise PermissionError(msg)

    system_raw = system_piped = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:  # noqa: ARG002, FBT001, FBT002
        """Refuse a shell command whose output is wanted."""
        return self.system(cmd)

    def _get_exc_info(self, exc_tuple: Any = None) -> Any:
        """Return the exception without the frames of ours in which it was raised."""
        etype, value, traceback = super()._get_exc_info(exc_tuple)  # type: ignore[no-untyped-call]
        last = frame = traceback
        while frame is not None:
            if frame.tb_frame.f_code.co_filename != __file__:
                last = frame
            frame = frame.tb_next
        if last is not None:
            last.tb_next = None
        return etype, value, traceback

    def _showtraceback(self, etype: Any, evalue: BaseException | None, stb: Any) -> None:
        lines = stb if isinstance(stb, list) else str(stb).splitlines()
        name = str(getattr(etype, "__name__", etype))
        self.recorder.error(name, _message(evalue), [str(line) for line in lines])


def make_shell(recorder: Recorder) -> NotebookShell:
    """
    Return the process's shell, with numbers, plots and prints going to a recorder.

    Parameters
    ----------
    recorder : Recorder
        Where everything that cells show is recorded.

    Returns
    -------
    NotebookShell
        A fresh shell; a process makes one.
    """
    # History would need a thread and a database file.
    HistoryManager.enabled = False  # type: ignore[assignment]
    shell = NotebookShell.instance()
    shell.recorder, shell.own_steps = recorder, shell.steps()
    for part in (shell.display_pub, shell.displayhook):
        part.set_trait("recorder", recorder)
    shell.displayhook.set_trait("ending", Ending())
    shell.run_line_magic("colors", "nocolor")
    builtins.input = _refuse_input
    shell.streams = (Stream(recorder, "stdout"), Stream(recorder, "stderr"))
    sys.stdout, sys.stderr = shell.streams
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    shell.ways = Ways(shell)
    return shell


def _is_as_written(cell: str) -> bool:
    """Return False if a cell may have magics, prompts, questions or empty first lines, or is one line."""
    return "\n" in cell.strip() and not cell[:1].isspace() and not _SPECIAL.search(cell)


def run_cell(shell: NotebookShell, source: str, *, wall_time_s: float, graded: bool = False) -> Ending:
    """
    Run one cell and record what it shows.

    Parameters
    ----------
    shell : NotebookShell
        The process's shell.
    source : str
        The cell's source.
    wall_time_s : float
        After this time in seconds the cell is interrupted.
    graded : bool
        True for a test cell: it is run as it was handed out.

    Returns
    -------
    Ending
        How it ended.
    """
    shell.recorder.start()
    ending = Ending()
    shell.displayhook.set_trait("ending", ending)
    # A cell before may have put anything there.
    sys.stdout, sys.stderr = shell.streams
    ways = shell.ways.restored(source, ending) if graded else nullcontext()
    with Timer(wall_time_s), ways:
        try:
            ending.end(shell.run_cell(source, store_history=True))  # type: ignore[no-untyped-call]
        except WallTimeExceeded:
            shell.recorder.error(
                "WallTimeExceeded", f"took longer than {wall_time_s:g} s and was stopped", []
            )
            ending.error = "WallTimeExceeded"
    return ending


class Timer:
    """
    Interrupt honest code that takes too long; the caller kills the rest.

    Parameters
    ----------
    wall_time_s : float
        Time in seconds until `WallTimeExceeded` is raised in the running code.
    """

    def __init__(self, wall_time_s: float) -> None:
        self.wall_time_s = wall_time_s

    def __enter__(self) -> None:
        """Start the clock."""
        signal.signal(signal.SIGALRM, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, self.wall_time_s, _INTERRUPT_AGAIN_S)

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        msg = f"took longer than {self.wall_time_s:g} s and was stopped"
        raise WallTimeExceeded(msg)


def _refuse_input(*_: object) -> str:
    msg = "input() cannot be answered while grading. Put the value into the cell."
    raise StdinNotImplementedError(msg)


def _message(evalue: BaseException | None) -> str:
    try:
        return str(evalue)
    except Exception:  # noqa: BLE001 - a student's __str__ may do anything
        return ""


def _texts(data: dict[str, Any]) -> dict[str, Any]:
    import base64  # noqa: PLC0415 - only notebooks with pictures need it

    return {
        str(mime): base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for mime, value in data.items()
        if isinstance(value, (str, bytes))
    }


def _plain(metadata: Any) -> dict[str, Any]:
    # Only the size of a picture matters, and only numbers are let through.
    if not isinstance(metadata, dict):
        return {}
    sizes = metadata.get("image/png", {})
    if not isinstance(sizes, dict):
        return {}
    kept = {key: sizes[key] for key in ("width", "height") if isinstance(sizes.get(key), int)}
    return {"image/png": kept} if kept else {}
