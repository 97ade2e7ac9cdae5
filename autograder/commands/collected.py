"""What `autograder collect` prints: what became of each submission, what was not collected, what to do."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.lms.collecting.planning import Action, Planned
from autograder.terminal import by_reason, printable, say, short, some

if TYPE_CHECKING:
    from autograder.commands.collection import Collection

NAMED = 8
"""Students that are named one by one."""

FILES = 4
"""Files of a submission that are named one by one."""

TOLD = 50
"""Reasons that are told one by one: an archive may hold thousands."""

LETTERS, REASON_LETTERS = 80, 400
"""The most letters of a name and of a reason: a student may have chosen them."""

_SHOWN = {
    Action.NEW: ("new", "green"),
    Action.UPDATED: ("updated", "green"),
    Action.UNCHANGED: ("unchanged", "dim"),
    Action.OLDER: ("older attempt; the later one stays", "yellow"),
    Action.EDITED: ("changed by hand; that stays", "yellow"),
}
_COUNTED = {
    Action.NEW: "new",
    Action.UPDATED: "updated",
    Action.UNCHANGED: "unchanged",
    Action.OLDER: "older than what is there",
    Action.EDITED: "changed by hand",
}


def print_collection(collection: Collection) -> None:
    """
    Print what was collected, what was not, and what to do.

    Parameters
    ----------
    collection : Collection
        What was collected, or would be.
    """
    console = Console(highlight=False)
    shown = [one for one in collection.planned if one.action is not Action.UNCHANGED]
    if shown:
        console.print(collection_table(collection, shown))
    problems = by_reason((one.reason, one.name) for one in collection.problems)
    for reason, names in islice(problems.items(), TOLD):
        say(console, f"not collected: {some(_named(names), NAMED)}: {short(reason, REASON_LETTERS)}", "red")
    if len(problems) > TOLD:
        say(console, f"not collected for {len(problems) - TOLD} more reasons (--json tells all)", "red")
    _say_lateness(console, collection)
    harmless = ((one.reason, one.name) for one in collection.left if one.harmless)
    for reason, names in by_reason(harmless).items():
        say(console, f"left out: {some(_named(names), FILES)}: {short(reason, REASON_LETTERS)}", "dim")
    for note in collection.notes:
        say(console, note, "yellow")
    if collection.enrolment.new:
        new = collection.enrolment.new
        say(console, f"new in the gradebook: {len(new)} ({some(new, NAMED)})")
    say(console, f"{collection.assignment}: {_counts(collection)}")
    if collection.dry_run:
        say(console, "Nothing was written (--dry-run).")
    elif collection.count(Action.NEW) or collection.count(Action.UPDATED):
        say(console, f"Next: autograder grade {collection.assignment}")


def _say_lateness(console: Console, collection: Collection) -> None:
    """Say where the LMS and the gradebook disagree about what is late."""
    there = (one.handed.collected for one in collection.planned if one.action is not Action.OLDER)
    told = collection.deadlines.disagreements(there)
    for words, students in by_reason((words, student) for student, words in told.items()).items():
        say(console, f"* {words}: {some(students, NAMED)}", "yellow")


def _named(names: list[str]) -> list[str]:
    """Return short names; of what is in one archive the first one: it pushes nobody else's aside."""
    by_archive: dict[str, list[str]] = defaultdict(list)
    for name in names:
        archive, inside, _ = name.partition(": ")
        by_archive[archive if inside else name].append(name)
    return [
        short(inside[0], LETTERS) + (f" (and {len(inside) - 1} more in it)" if len(inside) > 1 else "")
        for inside in by_archive.values()
    ]


def collection_table(collection: Collection, shown: list[Planned]) -> Table:
    """
    Return a table with a row for each submission.

    Parameters
    ----------
    collection : Collection
        What was collected.
    shown : list of Planned
        Of which submissions.

    Returns
    -------
    Table
        For rich to print.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    named = any(one.student in collection.names for one in shown)
    for title in ("student", *["name"] * named, "files", "handed in", "late", "what happens"):
        table.add_column(title, no_wrap=title == "student", overflow="fold")
    for one in shown:
        collected = one.handed.collected
        at = collected.submitted_at
        what, style = _SHOWN[one.action]
        cells = (
            one.student,
            *[collection.names.get(one.student, "")] * named,
            _files([file.path for file in collected.files], collection.notebooks),
            "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC",
            _late(collection, one),
        )
        # Names are students' to choose: never markup, never orders to the terminal.
        table.add_row(*(Text(printable(cell)) for cell in cells), Text(what, style=style))
    return table


def _files(paths: list[str], notebooks: tuple[str, ...]) -> str:
    """Return which files there are: of the usual ones how many, all others by name."""
    expected = {f"{name}.ipynb" for name in notebooks}
    there = expected & set(paths)
    others = [short(path, LETTERS) for path in paths if path not in expected]
    if len(there) < 2 or not expected:  # noqa: PLR2004 - a single one is told by its name
        return some([*sorted(there), *others], FILES)
    missing = sorted(expected - there)
    count = f"{len(there)} of {len(expected)} notebooks" if missing else f"all {len(expected)} notebooks"
    without = f", not {some(missing, FILES)}" if missing else ""
    return count + without + (f", and {some(others, FILES)}" if others else "")


def _late(collection: Collection, one: Planned) -> str:
    collected = one.handed.collected
    is_late = collection.deadlines.late_s(collected) if collected.late is None else collected.late
    mark = "*" if collection.deadlines.disagreement(collected) else ""
    return ("late" if is_late else "in time" if mark else "") + mark


def _counts(collection: Collection) -> str:
    counts = ((collection.count(action), words) for action, words in _COUNTED.items())
    parts = [f"{count} {words}" for count, words in counts if count]
    if collection.problems:
        parts.append(f"{len(collection.problems)} not collected")
    return ", ".join(parts) or "nothing to collect"
