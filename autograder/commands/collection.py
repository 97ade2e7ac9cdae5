"""What became of a collect, to be printed or told to machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.commands.lateness import Deadlines
    from autograder.lms.collecting.enrolment import Enrolment
    from autograder.lms.collecting.planning import Action, Planned
    from autograder.lms.downloads.model import Left


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """
    What was collected, or would be.

    Parameters
    ----------
    assignment : str
        The assignment.
    notebooks : tuple of str
        Its notebooks.
    planned : tuple of Planned
        By student what became of the submission.
    enrolment : Enrolment
        Who came with rosters.
    left : tuple of Left
        What was not collected, and why, people of the rosters included.
    deadlines : Deadlines
        Until when the students have time, by the gradebook.
    notes : tuple of str
        What was decided without being asked for.
    names : mapping of str to str
        What students are called, by their ids.
    dry_run : bool
        True if nothing was written.
    """

    assignment: str
    notebooks: tuple[str, ...]
    planned: tuple[Planned, ...]
    enrolment: Enrolment
    left: tuple[Left, ...]
    deadlines: Deadlines
    notes: tuple[str, ...]
    names: Mapping[str, str]
    dry_run: bool

    @property
    def problems(self) -> tuple[Left, ...]:
        """What somebody has to look at."""
        return tuple(one for one in self.left if not one.harmless)

    def count(self, action: Action) -> int:
        """Return of how many students this became."""
        return sum(one.action is action for one in self.planned)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types; times in UTC, durations in seconds."""
        return {
            "assignment": self.assignment,
            "dry_run": self.dry_run,
            "students": [self._told(one) for one in self.planned],
            "not_collected": [{"name": one.name, "reason": one.reason} for one in self.problems],
            "left_out": [{"name": one.name, "reason": one.reason} for one in self.left if one.harmless],
            "new_students": list(self.enrolment.new),
            "notes": list(self.notes),
        }

    def _told(self, one: Planned) -> dict[str, Any]:
        collected = one.handed.collected
        at = collected.submitted_at
        return {
            "student": one.student,
            "action": one.action.value,
            "lms": collected.lms.value,
            "archive": collected.archive,
            "key": collected.key,
            "files": [file.path for file in collected.files],
            "submitted_at": None if at is None else f"{at.isoformat(sep=' ')} UTC",
            "late": collected.late,
            "seconds_late": self.deadlines.late_s(collected),
            "disagreement": self.deadlines.disagreement(collected),
        }
