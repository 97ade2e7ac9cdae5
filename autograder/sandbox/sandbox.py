"""Everything that runs student code for one grader: its folder, its wall, its slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from autograder.errors import SandboxError
from autograder.sandbox.limits import Limits
from autograder.sandbox.runtime import Runtime
from autograder.sandbox.slot import Slot
from autograder.sandbox.wall import require
from autograder.sandbox.zygote import NOTHING, Origin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from autograder.course.settings import Settings
    from autograder.files import Beside
    from autograder.sandbox.process import Worker
    from autograder.sandbox.wall import Wall


class Sandbox:
    """
    Starts student processes, one at a time; a context manager.

    Before the first of them it attacks itself, see `self_test`.

    Parameters
    ----------
    wall : Wall
        What stands around them.
    scratch : Path, optional
        Where temporary files go. By default the system's folder for them.
    secrets : sequence of Path
        Folders that student code must not be able to list.
    """

    def __init__(self, wall: Wall, scratch: Path | None = None, *, secrets: Sequence[Path] = ()) -> None:
        self.wall = wall
        self._secrets = tuple(secrets)
        self._tested = False
        self._runtime = Runtime(scratch)
        self._slot = Slot(self._runtime, wall)

    def __enter__(self) -> Self:
        """Return the sandbox."""
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes."""
        self.close()

    def close(self) -> None:
        """End all processes and remove their folders."""
        self._slot.close()
        self._runtime.close()

    def launch(self, limits: Limits) -> None:
        """
        Start what processes are forked from, and do not wait for it.

        Parameters
        ----------
        limits : Limits
            What notebooks may use.
        """
        self._slot.launch(limits)

    def get_ready(self, origins: Sequence[Origin], limits: Limits) -> None:
        """
        Begin what processes will be forked from, all at a time.

        Parameters
        ----------
        origins : sequence of Origin
            What they will be forked from.
        limits : Limits
            What notebooks may use.

        Raises
        ------
        SandboxError
            If it cannot be started.
        """
        self._slot.get_ready(origins, limits)

    def start(
        self, limits: Limits, *, files: Sequence[Path | Beside] = (), seed: int = 0, origin: Origin = NOTHING
    ) -> Worker:
        """
        Return a process for one notebook.

        Parameters
        ----------
        limits : Limits
            What it may use.
        files : sequence of Path or Beside
            Folders whose files, other than notebooks, the notebook finds
            beside it; a later folder's file replaces an earlier one's.
        seed : int
            Seeds the process's global random generators.
        origin : Origin
            What it has loaded and run already, see `Worker`.

        Returns
        -------
        Worker
            The process; it must be closed before the next is started.

        Raises
        ------
        SandboxError
            If the process does not come up, or the wall does not hold.
        """
        # numpy is imported for these: not before what student code is forked from has been launched.
        from autograder.sandbox.process import Worker  # noqa: PLC0415
        from autograder.sandbox.selftest import self_test  # noqa: PLC0415

        if not self._tested:
            self._tested = True
            try:
                self_test(self, secrets=self._secrets)
            except SandboxError:
                self._tested = False
                raise
        return Worker(self._slot, limits, files=files, seed=seed, origin=origin)


def launched(settings: Settings, *, secrets: Sequence[Path], scratch: Path | None = None) -> Sandbox:
    """
    Return the sandbox to grade a course in, getting ready.

    Parameters
    ----------
    settings : Settings
        The course's settings: its limits, and whether it may be graded without a wall.
    secrets : sequence of Path
        Folders that student code must not be able to list.
    scratch : Path, optional
        Where temporary files go. By default the system's folder for them.

    Returns
    -------
    Sandbox
        The sandbox, launched.

    Raises
    ------
    SandboxError
        If there is no wall, and grading without was not asked for.
    """
    sandbox = Sandbox(require(allow_unsafe=settings.unsafe_no_sandbox), scratch, secrets=secrets)
    sandbox.launch(Limits.of(settings))
    return sandbox
