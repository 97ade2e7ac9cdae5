"""Late by the LMS and late by the gradebook: where the two disagree, somebody should know."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from autograder.gradebook.extensions import Extensions
    from autograder.lms.collecting.record import Collected


@dataclass(frozen=True, slots=True)
class Deadlines:
    """
    Until when the students of an assignment have time.

    Parameters
    ----------
    due : datetime or None
        The gradebook's due date: naive, in UTC.
    more : mapping of str to timedelta
        By student the extension.
    """

    due: datetime | None = None
    more: Mapping[str, timedelta] = field(default_factory=dict)

    @classmethod
    def of(cls, extensions: Extensions) -> Self:
        """Return those of an assignment in the gradebook."""
        known = extensions.all().values()
        return cls(extensions.due, {one.student: one.more for one in known if one.more is not None})

    def late_s(self, one: Collected) -> float | None:
        """
        Return how late a submission is.

        Parameters
        ----------
        one : Collected
            The submission.

        Returns
        -------
        float or None
            Seconds after the due date and the extension, 0 if it is in time; None if that is not known.
        """
        if self.due is None or one.submitted_at is None:
            return None
        until = self.due + self.more.get(one.student, timedelta())
        return max((one.submitted_at - until).total_seconds(), 0.0)

    def disagreement(self, one: Collected) -> str:
        """
        Return how the LMS's mark and the gradebook's due date disagree.

        Parameters
        ----------
        one : Collected
            The submission.

        Returns
        -------
        str
            A clause; empty if they do not.
        """
        if one.late is None or (not one.late and one.submitted_at is None):
            return ""
        name, late_s = one.lms.shown, self.late_s(one)
        if one.submitted_at is None:
            return f"late for {name}, which does not say when; a penalty needs a time in timestamp.txt"
        if late_s is None:
            return f"late for {name}, and the gradebook has no due date" if one.late else ""
        if one.late and not late_s:
            return f"late for {name}, in time by the due date in the gradebook"
        return f"in time for {name}, late by the due date in the gradebook" if late_s and not one.late else ""

    def disagreements(self, collected: Iterable[Collected]) -> dict[str, str]:
        """
        Return where the LMS and the gradebook disagree.

        Parameters
        ----------
        collected : iterable of Collected
            Submissions.

        Returns
        -------
        dict of str to str
            By student a clause.
        """
        told = {one.student: self.disagreement(one) for one in collected}
        return {student: words for student, words in told.items() if words}
