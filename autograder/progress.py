"""The bar that shows how far a batch is."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        """Show how many are done a minute or a second."""
        if not task.completed or not task.elapsed:
            return Text("")
        speed = task.completed / task.elapsed
        return Text(f"{speed:.1f}/s" if speed >= 1 else f"{speed * 60:.0f}/min")


def progress_bar(*, quiet: bool) -> Progress:
    """
    Return a bar with count, rate and time left, on standard error.

    Parameters
    ----------
    quiet : bool
        True to show nothing.

    Returns
    -------
    Progress
        A context manager.
    """
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=Console(stderr=True),
        disable=quiet,
    )
