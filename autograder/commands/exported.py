"""What `autograder export` prints: what the LMS will do with the file, row by row where that is not plain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.lms.exports.model import Action
from autograder.lms.grades import WAITS
from autograder.terminal import by_reason, printable, say, short_path, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.commands.exporting import Exported
    from autograder.lms.exports.model import Change

NAMED = 12
"""Students that are named one by one for a reason."""

FEW = 25
"""Changes that are shown without being asked for."""

_SAID = {
    Action.APPLIED: "applied",
    Action.UNCHANGED: "there already",
    Action.SKIPPED: "left out",
    Action.CLEARED: "cleared",
}
_STYLES = {Action.CLEARED: "red", Action.SKIPPED: "yellow", Action.UNCHANGED: "dim", Action.APPLIED: ""}


def print_export(exported: Exported, *, every_change: bool = False) -> None:
    """
    Print what was exported and what will become of it.

    Parameters
    ----------
    exported : Exported
        What was exported.
    every_change : bool
        True to show each student's row in any case.
    """
    console = Console(highlight=False)
    changes = exported.export.changes
    files = len(exported.export.files)
    what = f"{files} files in {short_path(exported.path)}" if files > 1 else short_path(exported.path)
    what = what if exported.written else "nothing written"
    if exported.export.is_empty:
        what = f"nothing to upload ({what}{', without a row' if exported.written else ''})"
    say(console, f"{exported.assignment} → {exported.format}: {what}")
    shown = [one for one in changes if every_change or one.action is not Action.SKIPPED]
    if shown and (every_change or len(shown) <= FEW):
        console.print(changes_table(shown, exported.names))
    counts = [f"{exported.count(action)} {_SAID[action]}" for action in Action if exported.count(action)]
    if counts:
        say(console, f"  scores: {', '.join(counts)}")
    # What is applied has a reason only where it is not plain: a score that will be cut, a zero.
    plain = {Action.APPLIED, Action.UNCHANGED}
    for action in (Action.CLEARED, Action.SKIPPED, Action.APPLIED):
        chosen = (change for change in changes if change.action is action)
        for line in _grouped(change for change in chosen if change.reason or action not in plain):
            say(console, f"  {_SAID[action]}: {line}", _STYLES[action])
    left = (change for change in changes if change.action is Action.SKIPPED)
    if any(change.reason.startswith(WAITS) for change in left):
        say(console, "  (--unfinished sends what such work has so far)")
    for note in exported.export.notes:
        say(console, f"  • {note}")


def changes_table(changes: Iterable[Change], names: Mapping[str, str]) -> Table:
    """
    Return a table of what becomes of each score.

    Parameters
    ----------
    changes : iterable of Change
        A row each.
    names : mapping of str to str
        The students' names, by their ids.

    Returns
    -------
    Table
        Student, name, column, before, after, and what happens.
    """
    changes = tuple(changes)
    texts = {
        "student": [change.student for change in changes],
        "name": [names.get(change.student, "") for change in changes],
        "column": [change.column for change in changes],
        "in the LMS": [change.before for change in changes],
        "will be": [change.before if change.action is Action.SKIPPED else change.after for change in changes],
        "": [_SAID[change.action] for change in changes],
    }
    if len(set(texts["column"])) == 1:
        del texts["column"]
    shown = {title: cells for title, cells in texts.items() if any(cells)}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2))
    for title in shown:
        table.add_column(title, justify="right" if title in {"in the LMS", "will be"} else "left")
    for change, *cells in zip(changes, *shown.values(), strict=True):
        table.add_row(*(Text(printable(cell)) for cell in cells), style=_STYLES[change.action])
    return table


def _grouped(changes: Iterable[Change]) -> Iterable[str]:
    """Yield a line for each reason, with whom it concerns."""
    # A student with several columns is named once.
    pairs = dict.fromkeys((change.reason, change.student) for change in changes)
    for reason, students in by_reason(pairs).items():
        yield some(students, NAMED) + (f": {reason}" if reason else "")
