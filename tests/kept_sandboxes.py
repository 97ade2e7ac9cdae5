"""Sandboxes that several tests share: each takes a second to warm up, and every notebook is a new process."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

from autograder.sandbox import wall
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import launched

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.settings import Settings
    from autograder.sandbox.sandbox import Sandbox


class Kept:
    """
    Sandboxes by what makes them differ.

    Parameters
    ----------
    ends : ExitStack
        What ends them.
    """

    def __init__(self, ends: ExitStack) -> None:
        self._ends = ends
        self._sandboxes: dict[object, Sandbox] = {}

    def launched(self, settings: Settings, *, secrets: tuple[Path, ...]) -> nullcontext[Sandbox]:
        """Return a sandbox as the command launches it, still there after it."""
        key = (wall.require(allow_unsafe=settings.unsafe_no_sandbox), Limits.of(settings), secrets)
        if key not in self._sandboxes:
            self._sandboxes[key] = self._ends.enter_context(launched(settings, secrets=secrets))
        return nullcontext(self._sandboxes[key])
