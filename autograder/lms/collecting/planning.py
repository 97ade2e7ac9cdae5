"""What collecting would do with each student's submission."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from autograder.lms.collecting.handed import digest, latest, order
from autograder.lms.downloads.model import Left

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.lms.collecting.folders import Shelf
    from autograder.lms.collecting.handed import Handed
    from autograder.lms.collecting.record import Collected, Record


class Action(StrEnum):
    """What becomes of a student's submission."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OLDER = "older"
    """What was collected before is later, and stays."""
    EDITED = "edited"
    """Somebody has changed what was collected of the same attempt, and that stays."""


WRITES = (Action.NEW, Action.UPDATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """
    What becomes of a student's submission.

    Parameters
    ----------
    action : Action
        What.
    handed : Handed
        The attempt of the downloads that counts.
    earlier : tuple of Handed
        Those that do not; they are kept aside.
    before : Collected or None
        What is in the submission's folder; None if nothing is, or nobody knows what.
    """

    action: Action
    handed: Handed
    earlier: tuple[Handed, ...] = ()
    before: Collected | None = None

    @property
    def student(self) -> str:
        """Whose submission it is."""
        return self.handed.student


def plan(attempts: Sequence[Handed], record: Record, shelf: Shelf, *, force: bool) -> Planned | Left:
    """
    Return what becomes of one student's submission.

    Parameters
    ----------
    attempts : sequence of Handed
        At least one, all of one student.
    record : Record
        What was collected before.
    shelf : Shelf
        Where submissions are.
    force : bool
        True if what somebody has changed by hand, or what is later, is to be replaced.

    Returns
    -------
    Planned or Left
        What to do, or why nothing is done, and what to do about that.

    Raises
    ------
    OperatorError
        If a folder cannot be read.
    """
    student = attempts[0].student
    if problem := shelf.problem(student):
        return Left(name=student, reason=problem)
    handed, earlier = latest(attempts)
    if handed is None:
        keys = ", ".join(f"{one.attempt.key} in {one.collected.archive}" for one in earlier)
        what = f"There are {len(earlier)} attempts, and nothing tells which is the last: {keys}"
        return Left(name=student, reason=f"{what}. Leave out those that do not count, and collect again.")
    known = record.students.get(student)
    there = [one for one in (record.pending.get(student), known) if one is not None]
    before = next((one for one in there if shelf.holds(one)), None)
    if shelf.holds(handed.collected):
        return Planned(action=Action.UNCHANGED, handed=handed, earlier=earlier, before=before)
    if not shelf.is_there(student):
        found = _into_nothing(handed, there, force=force)
    elif before is None:
        found = _over_unknown(handed, known, force=force)
    else:
        found = _over(handed, before, force=force)
    if isinstance(found, Action):
        return Planned(action=found, handed=handed, earlier=earlier, before=before)
    return Left(name=student, reason=found)


def _into_nothing(handed: Handed, known: Sequence[Collected], *, force: bool) -> Action | str:
    if not force and any((order(handed.collected, one) or 0) < 0 for one in known):
        what = "A later attempt was collected before, and its folder is gone"
        return f"{what}. Collect the later download, or take this one with --force."
    return Action.NEW


def _over_unknown(handed: Handed, known: Collected | None, *, force: bool) -> Action | str:
    """Decide about a folder that is not as anything that was collected."""
    if force:
        return Action.UPDATED
    if known is None:
        what = "There is a submission that was not collected by this command"
    elif digest(known.files) == handed.digest:
        return Action.EDITED
    else:
        later = order(handed.collected, known)
        if later is not None and later < 0:
            return Action.OLDER
        what = "There is a later attempt now, and the earlier one was changed by hand"
        if not later:
            what = f"It differs from what was collected from {known.archive} and was then changed by hand"
    return f"{what}; it stays. To replace it (it is kept in .autograder/earlier): --force."


def _over(handed: Handed, before: Collected, *, force: bool) -> Action | str:
    """Decide about a folder that is as it was collected."""
    later = order(handed.collected, before)
    if handed.digest == digest(before.files):
        has_no_news = handed.collected.submitted_at is None or (later or 0) < 0
        return Action.UNCHANGED if has_no_news else Action.UPDATED
    if later == 1 or force:
        return Action.UPDATED
    if later == -1:
        return Action.OLDER
    what = f"It differs from what was collected from {before.archive}, and nothing tells which is later"
    return f"{what}. To take this one (the other is kept in .autograder/earlier): --force."
