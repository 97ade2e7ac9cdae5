"""What Moodle hides before marks are released, and what must not be sent over what nobody sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from autograder.lms.push.moodle.finding import Found
    from autograder.lms.push.moodle.reading import Held

RELEASED = "released"
"""Moodle's name of the state of marking in which students see what they have."""
COMMENTS, FILES = "comments", "file"
"""Moodle's names of the kinds of feedback that are used."""

_INSTEAD = "give this one by Moodle's worksheet (`autograder export moodle-worksheet`)"


def hides_feedback(found: Found, state: str) -> bool:
    """Return whether Moodle shows nobody the comment and files of a student in this state of marking."""
    return found.workflow and state != RELEASED


def hides_score(found: Found, state: str) -> bool:
    """Return whether the score of such a student is not in the gradebook."""
    return found.blind or hides_feedback(found, state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """
    What can be seen of one student.

    Parameters
    ----------
    found : Found
        Which assignment.
    user : str
        Moodle's number of the student.
    held : Held
        What Moodle shows of the student.
    state : str
        The state of marking.
    scores : mapping of str to (Decimal or None)
        What Moodle lists.
    """

    found: Found
    user: str
    held: Held
    state: str
    scores: Mapping[str, Decimal | None]

    @property
    def score(self) -> Decimal | None:
        """The score; None for none, or one that is not shown."""
        return self.held.score if self.held.seen else self.scores.get(self.user)

    @property
    def is_score_known(self) -> bool:
        """False if there may be a score that Moodle does not show."""
        seen = self.held.seen or self.user in self.scores
        return seen or not hides_score(self.found, self.state) or self._has_nothing

    @property
    def is_feedback_known(self) -> bool:
        """False if there may be a comment, or files, that Moodle does not show."""
        return self.held.seen or not hides_feedback(self.found, self.state) or self._has_nothing

    @property
    def _has_nothing(self) -> bool:
        # Moodle lists every mark of work that somebody handed in, also one without a score.
        return self.held.handed_in and self.user not in self.scores

    def obstacle(self, *, files: bool) -> str:
        """
        Return why nothing may be sent: Moodle would replace what it does not show.

        Parameters
        ----------
        files : bool
            Whether a file is to be sent.

        Returns
        -------
        str
            Half a sentence with what to do; empty if nothing can be lost.
        """
        if not self.is_score_known:
            why = "marks are released" if self.found.workflow else "identities are revealed"
            return f"before {why} Moodle does not show whether there is a score already; {_INSTEAD}"
        if self.is_feedback_known or not (COMMENTS in self.found.plugins or files):
            return ""
        return (
            "Moodle would erase the comment and files that it does not show before marks are released; "
            f"release this student's mark there, or {_INSTEAD}"
        )
