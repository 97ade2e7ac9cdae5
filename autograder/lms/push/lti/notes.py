"""What our record keeps of a student's scores over LTI, and what it says where a platform is silent."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING

from autograder.lms.model import Lms, points_text
from autograder.lms.push.model import same_score
from autograder.lms.push.record import digest
from autograder.lms.push.wanted import says, words_of

if TYPE_CHECKING:
    from autograder.lms.model import Grade
    from autograder.lms.push.model import Row
    from autograder.lms.push.record import Record

DOUBT = (
    "nobody can tell whether its comment arrived, and it would be there twice: look there, and write it by "
    "hand if it is missing"
)
"""Why a comment is not sent again."""

_SENT, _TOLD, _COMMENT = "sent", "told", "comment"
_BEGUN, _BEGUN_SCORE = "begun", "begun_score"


class Arrival(StrEnum):
    """Whether a comment has arrived whose sending was begun, and whose end nobody saw."""

    NO = "no"
    YES = "yes"
    UNKNOWN = "unknown"


class Notes:
    """
    Notes of what was sent to a line item.

    Parameters
    ----------
    record : Record or None
        Where they are kept; None if there is no line item yet.
    lms : Lms
        Whose rules hold.
    """

    def __init__(self, record: Record | None, lms: Lms) -> None:
        self._record = record
        self.appends = lms is Lms.CANVAS

    def _of(self, user: str) -> dict[str, str]:
        return {} if self._record is None else dict(self._record.of(user))

    # ------------------------------------------------------------ before anything is sent

    def score_was_sent(self, user: str, grade: Grade, after: str) -> bool:
        """Return whether this score was sent last."""
        return self._of(user).get(_SENT) == _score_mark(grade, after)

    def was_told(self, user: str, shown: str) -> bool:
        """Return whether the platform told this score when it was read back last."""
        return self._of(user).get(_TOLD) == shown

    def comment_was_sent(self, user: str, comment: str) -> bool:
        """Return whether this comment was sent last."""
        return self._of(user).get(_COMMENT) == _comment_mark(comment)

    def is_foreign(self, user: str, told: str | None, comment: str) -> bool:
        """
        Return whether a comment must be kept that a platform has room for one of.

        Parameters
        ----------
        user : str
            The student's id on the platform.
        told : str or None
            The comment that is there; None or empty for none.
        comment : str
            The one that is to be there; empty for none.

        Returns
        -------
        bool
            True if it says something else, and was not sent by us. Canvas keeps all comments.
        """
        if self.appends or not told or (comment and says(told, comment)):
            return False
        known = self._of(user)
        ours = {known.get(_COMMENT), known.get(_BEGUN)}
        return not ours & {digest(words_of(told)), digest(words_of(told, is_html=False))}

    def arrival(self, user: str, comment: str, score: str | None) -> Arrival:
        """
        Return what became of a comment whose sending was begun.

        Parameters
        ----------
        user : str
            The student's id on the platform.
        comment : str
            The comment.
        score : str or None
            What the platform has now; None if it does not tell.

        Returns
        -------
        Arrival
            Scores and comments go together, so a score that changed tells; `Arrival.NO` also if
            nothing was begun.
        """
        known = self._of(user)
        if not comment or known.get(_BEGUN) != _comment_mark(comment):
            return Arrival.NO
        before, after = json.loads(known.get(_BEGUN_SCORE, '["", ""]'))
        if score is None or same_score(before, after):
            return Arrival.UNKNOWN
        if same_score(score, before):
            return Arrival.NO
        return Arrival.YES if same_score(score, after) else Arrival.UNKNOWN

    # ------------------------------------------------------------ while something is sent

    def begin(self, row: Row) -> None:
        """Note that a comment is about to be sent; the timestamp, which is noted next, is saved with it."""
        if self._record is not None:
            scores = json.dumps([row.before, row.after])
            self._record.note(row.key, **{_BEGUN: _comment_mark(row.comment), _BEGUN_SCORE: scores})

    def refused(self, row: Row) -> None:
        """Note on the disk that nothing was done of what was begun."""
        self._keep(row, {_BEGUN: ""})

    def taken(self, row: Row) -> None:
        """Note on the disk that the platform has taken a comment."""
        self._keep(row, {_COMMENT: _comment_mark(row.comment), _BEGUN: ""})

    def end(self, row: Row, grade: Grade, shown: str) -> None:
        """Note on the disk which score was sent, and what the platform tells of it."""
        self._keep(row, {_SENT: _score_mark(grade, row.after), _TOLD: shown})

    def _keep(self, row: Row, facts: dict[str, str]) -> None:
        if self._record is not None and any(self._of(row.key).get(name, "") != facts[name] for name in facts):
            self._record.note(row.key, **facts)
            self._record.save()


def _score_mark(grade: Grade, after: str) -> str:
    return digest(json.dumps([after, points_text(grade.max_points)]))


def _comment_mark(comment: str) -> str:
    return digest(words_of(comment, is_html=False))
