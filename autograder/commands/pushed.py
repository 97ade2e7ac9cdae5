"""What `autograder push` prints: what will be sent, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.lms.push.model import Action, State, failures
from autograder.terminal import by_reason, printable, say, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autograder.lms.push.model import Outcome, Plan, Row

NAMED = 12
"""Students that are named one by one for a reason."""

_STYLES = {Action.CLEAR: "red", Action.BLOCKED: "red", Action.SKIP: "yellow", Action.UNCHANGED: "dim"}
_SAID = {
    Action.SEND: "to send",
    Action.CLEAR: "to be cleared",
    Action.UNCHANGED: "there already",
    Action.SKIP: "left out",
    Action.BLOCKED: "cannot be sent",
}


def print_plan(plan: Plan, *, every_row: bool = False) -> None:
    """
    Print what a push will do.

    Parameters
    ----------
    plan : Plan
        The plan.
    every_row : bool
        True to show students for whom nothing changes, too.
    """
    console = Console(highlight=False)
    say(console, f"→ {plan.where}")
    rows = plan.rows if every_row else plan.to_send
    if rows:
        console.print(plan_table(rows))
    counts = plan.counts()
    said = [f"{counts[action]} {_SAID[action]}" for action in Action if counts.get(action)]
    say(console, f"  {', '.join(said) or 'nobody is in the gradebook'}")
    for action in (Action.BLOCKED, Action.SKIP):
        for line in _grouped(row for row in plan.rows if row.action is action):
            say(console, f"  {_SAID[action]}: {line}", _STYLES[action])
    for note in plan.notes:
        say(console, f"  • {note}")


def plan_table(rows: Iterable[Row]) -> Table:
    """
    Return a table of what becomes of each student's score.

    Parameters
    ----------
    rows : iterable of Row
        A row each.

    Returns
    -------
    Table
        Student, the LMS's name for them, before, after, and what goes with it.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2))
    for title in ("student", "name there", "has", "will have", "sent"):
        table.add_column(title, justify="right" if title in {"has", "will have"} else "left")
    for row in rows:
        sent = ", ".join(row.parts) or _SAID[row.action]
        table.add_row(
            *(
                Text(printable(cell))
                for cell in (row.student, row.name or row.key, row.before, row.after, sent)
            ),
            style=_STYLES.get(row.action, ""),
        )
    return table


def print_outcomes(outcomes: Sequence[Outcome]) -> None:
    """
    Print what became of a push.

    Parameters
    ----------
    outcomes : sequence of Outcome
        One for each row that was to be sent.
    """
    console = Console(highlight=False)
    verified = sum(one.state is State.VERIFIED for one in outcomes)
    sent = sum(one.state is State.SENT for one in outcomes)
    failed = failures(outcomes)
    said = [
        f"{verified} sent and read back" if verified else "",
        f"{sent} sent (this interface does not let us read them back)" if sent else "",
        f"{len(failed)} failed" if failed else "",
    ]
    say(console, f"  {', '.join(part for part in said if part) or 'nothing to send'}")
    for one in failed:
        say(console, f"  failed: {one.row.student}: {one.reason}", "red")
    if failed:
        say(console, "  The same command goes on from here; nothing is sent twice.")


def plan_to_dict(plan: Plan, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """
    Return a push as machines read it.

    Parameters
    ----------
    plan : Plan
        What was to be done.
    outcomes : sequence of Outcome
        What became of it; empty for a dry run.

    Returns
    -------
    dict
        ``lms``, ``where``, ``rows`` and ``notes``; a row has an ``outcome`` once it was sent.
    """
    became = {one.row.student: one for one in outcomes}
    return {
        "lms": plan.lms.value,
        "where": plan.where,
        "rows": [_row_to_dict(row, became.get(row.student)) for row in plan.rows],
        "notes": list(plan.notes),
    }


def _row_to_dict(row: Row, outcome: Outcome | None) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "student": row.student,
        "lms_user_id": row.key,
        "action": row.action.value,
        "before": row.before,
        "after": row.after,
        "sent": list(row.parts),
        "reason": row.reason,
    }
    if outcome is not None:
        facts["outcome"] = {"state": outcome.state.value, "found": outcome.found, "reason": outcome.reason}
    return facts


def _grouped(rows: Iterable[Row]) -> Iterable[str]:
    """Yield a line for each reason, with whom it concerns."""
    for reason, students in by_reason((row.reason, row.student) for row in rows).items():
        yield some(students, NAMED) + (f": {reason}" if reason else "")
