"""What a push will do, and what became of it: the words that all interfaces share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from autograder.errors import RefusedError
from autograder.lms.model import points_text, read_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from autograder.errors import ServerError
    from autograder.lms.model import Lms

TOLERANCE = Decimal("0.005")
"""How far the score that an LMS has may be from ours: half of the last decimal that is sent."""

FAILURES_IN_A_ROW = 2
"""Students in a row for whom nothing goes until an LMS counts as down."""

EXCUSED = "excused"
"""Stands for a score in `Row.before` and `Row.after`."""


class Action(StrEnum):
    """What a push does for a student."""

    SEND = "send"
    """Something goes: a score, an excuse, a comment or a file."""
    CLEAR = "clear"
    """A score that the LMS has goes away. No push does this unless it was asked to."""
    UNCHANGED = "unchanged"
    """The LMS has all of it already."""
    SKIP = "skip"
    """Nothing of ours is sent; what the LMS has stays."""
    BLOCKED = "blocked"
    """There is something to send, and the LMS would refuse it, or nobody knows whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    What a push does for one student.

    Parameters
    ----------
    student : str
        The id in this course.
    key : str
        Whom the LMS means: its own number or id; empty if nobody knows.
    action : Action
        What will be done.
    before, after : str
        The score that the LMS has and the one that it gets, `EXCUSED`, or empty for none.
        They are equal if the score stays.
    comment : str
        The text that is added; empty for none.
    file : Path or None
        The file that is attached; None for none.
    file_name : str
        What the LMS will call it.
    reason : str
        Why, where it is not plain: one sentence; where it is blocked also what to do.
    name : str
        The student as the LMS calls them; may be empty.
    """

    student: str
    key: str = ""
    action: Action
    before: str = ""
    after: str = ""
    comment: str = ""
    file: Path | None = None
    file_name: str = ""
    reason: str = ""
    name: str = ""

    @property
    def changes_score(self) -> bool:
        """Whether the score is another one afterwards."""
        return self.action in {Action.SEND, Action.CLEAR} and self.before != self.after

    @property
    def parts(self) -> tuple[str, ...]:
        """What is sent, in words: "score", "comment", "file"."""
        if self.action not in {Action.SEND, Action.CLEAR}:
            return ()
        sent = {"score": self.changes_score, "comment": bool(self.comment), "file": self.file is not None}
        return tuple(part for part, is_sent in sent.items() if is_sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    What a push will do; to make it changes nothing.

    Parameters
    ----------
    lms : Lms
        Where to.
    where : str
        The assignment, as its LMS calls it, with course and address.
    rows : tuple of Row
        One for each student, sorted by id.
    notes : tuple of str
        What holds for all of them and the instructor must know, a sentence each.
    """

    lms: Lms
    where: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def to_send(self) -> tuple[Row, ...]:
        """The rows for which something is done."""
        return tuple(row for row in self.rows if row.action in {Action.SEND, Action.CLEAR})

    def counts(self) -> Mapping[Action, int]:
        """Return how many students each action is for."""
        return Counter(row.action for row in self.rows)


class State(StrEnum):
    """What became of a student's row."""

    VERIFIED = "verified"
    """Sent, and read back as it was sent."""
    SENT = "sent"
    """Sent and taken; this interface does not let us read it back."""
    FAILED = "failed"
    """Not there, or not all of it; the reason says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    What became of one row.

    Parameters
    ----------
    row : Row
        What was to be done.
    state : State
        What became of it.
    found : str
        The score as it was read back; empty if there is none or it was not read.
    reason : str
        Why it failed and what to do; empty otherwise.
    """

    row: Row
    state: State
    found: str = ""
    reason: str = ""


def same_score(one: Decimal | float | str | None, other: Decimal | float | str | None) -> bool:
    """
    Return whether two scores are the same to an LMS.

    Parameters
    ----------
    one, other : Decimal, float, str or None
        Scores, as numbers or as text; None or empty for none.

    Returns
    -------
    bool
        True if both are none, or they differ by no more than `TOLERANCE`. What is no finite number
        is the same as nothing else.
    """
    first, second = _number(one), _number(other)
    if first is None or second is None:
        return first is second
    return first.is_finite() and second.is_finite() and abs(first - second) <= TOLERANCE


def score_text(score: Decimal | float | str | None) -> str:
    """
    Return the score that an LMS told, as a plan shows it.

    Parameters
    ----------
    score : Decimal, float, str or None
        As told; None for none.

    Returns
    -------
    str
        At most two decimals; empty for none, "?" for what is no number.
    """
    number = _number(score)
    if number is None:
        return ""
    return points_text(number) if number.is_finite() else "?"


def failed(row: Row, error: ServerError) -> Outcome:
    """
    Return that a row failed, why, and what to do.

    Parameters
    ----------
    row : Row
        What was to be done.
    error : ServerError
        What stopped it. Where an LMS refused, it is the student's row that is at fault, and no address.

    Returns
    -------
    Outcome
        In words for the instructor.
    """
    place = "" if isinstance(error, RefusedError) else f"{error.where}: "
    return Outcome(row=row, state=State.FAILED, reason=f"{place}{error.what}. {error.remedy}")


def failures(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return those that failed."""
    return tuple(outcome for outcome in outcomes if outcome.state is State.FAILED)


def _number(score: Decimal | float | str | None) -> Decimal | None:
    if score is None or score == "":
        return None
    try:
        return read_number(score)
    except ValueError:
        return Decimal("NaN")
