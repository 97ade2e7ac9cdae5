"""
What a plan says, done: scores one by one, each with its own later time, and each read back.

A platform's "OK" is not believed. And a score whose answer is lost, or that is
refused as too old, is looked for before it is sent again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from pylti1p3.grade import Grade as LtiGrade

from autograder.errors import ServerError, UncertainError
from autograder.lms.model import Lms
from autograder.lms.push.lti.finding import number
from autograder.lms.push.lti.notes import DOUBT, Notes
from autograder.lms.push.lti.planning import NO_RIGHT, is_near, shown
from autograder.lms.push.lti.service import PlatformRefusedError, TokenRefusedError
from autograder.lms.push.lti.stamps import Stamps, written
from autograder.lms.push.model import FAILURES_IN_A_ROW, Outcome, State, failed, same_score
from autograder.lms.push.wanted import says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.lms.model import Grade
    from autograder.lms.push.lti.access import Access, Column, Result
    from autograder.lms.push.lti.planning import Known
    from autograder.lms.push.model import Plan, Row
    from autograder.lms.push.record import Record
    from autograder.lms.push.wanted import Wanted

CANVAS_SUBMISSION = "https://canvas.instructure.com/lti/submission"
ATTEMPTS = 5
"""How often one score is sent at most, each time after looking what is there."""
SETTLES_S = (0.0, 1.0, 3.0)
"""Seconds before the result is read, each time that it is not yet as it was sent."""
LATER = timedelta(seconds=1)
"""How much later a score is sent that was refused as too old; Moodle counts whole seconds."""

_OF_ALL = {401, 403, 404, 405}
"""What a platform answers where no student's score will do better."""
_CONFLICT = 409


@dataclass(kw_only=True, slots=True)
class _Sending:
    """One score on its way."""

    row: Row
    grade: Grade
    comment: str
    """What goes with it: ours, or somebody else's that would be lost."""
    stamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    later_than: datetime | None = None
    is_open: bool = False
    """Whether an answer was lost: then something may have arrived."""
    doubt: bool = False
    """Whether nobody can tell if our comment has arrived."""

    @property
    def has_ours(self) -> bool:
        return bool(self.row.comment) and self.comment == self.row.comment


class Sender:
    """
    Does what plans say.

    Parameters
    ----------
    access : Access
        The platform.
    column : Column
        The line item.
    record : Record
        What was sent before; it is held by the caller.
    known : Known
        What the plan was made of.
    """

    def __init__(self, access: Access, column: Column, record: Record, known: Known) -> None:
        self._access = access
        self._column = column
        self._notes = Notes(record, access.registration.lms)
        self._readable = known.results is not None
        self._tells_comments = known.tells_comments
        self._stamps = Stamps(record, access.wall)

    def send(self, plan: Plan, wanted: Wanted) -> Iterator[Outcome]:
        """
        Send what a plan says.

        Parameters
        ----------
        plan : Plan
            The plan.
        wanted : Wanted
            What it was made of.

        Yields
        ------
        Outcome
            One for each row of `Plan.to_send`.

        Raises
        ------
        ServerError
            If the platform cannot be reached any more, or refuses everybody.
        """
        grades = {grade.student: grade for grade in wanted.grades}
        in_a_row = 0
        for row in plan.to_send:
            problem: ServerError | None = None
            try:
                outcome = self._sent(row, grades[row.student])
            except ServerError as error:
                problem = error
                outcome = failed(row, error)
            in_a_row = in_a_row + 1 if problem is not None and _is_of_all(problem) else 0
            if outcome.state is not State.FAILED:
                self._notes.end(row, grades[row.student], outcome.found)
            yield outcome
            if in_a_row == FAILURES_IN_A_ROW and problem is not None:
                raise problem

    def _sent(self, row: Row, grade: Grade) -> Outcome:
        """Send a score until it is there."""
        now = self._read(row)
        if changed := self._changed(row, grade, now):
            return changed
        # Where there is room for one comment, somebody else's stays only if it is sent along.
        theirs = now.comment if now is not None and self._notes.is_foreign(row.key, now.comment, "") else None
        sending = _Sending(row=row, grade=grade, comment=row.comment or theirs or "")
        problem = ServerError(self._column.url.partition("?")[0], "no score goes", "Repeat the command.")
        for attempt in range(ATTEMPTS):
            try:
                self._post(sending)
            except UncertainError as error:
                self._access.clock.sleep(2.0**attempt)
                outcome = self._after_silence(sending)
                problem = ServerError(error.where, error.what, error.remedy)
            except PlatformRefusedError as refused:
                if not _is_conflict(refused):
                    raise
                outcome = self._after_conflict(sending, refused, attempt)
                problem = refused
            else:
                return self._verified(sending)
            if outcome is not None:
                return outcome
        raise problem

    def _post(self, sending: _Sending) -> None:
        """Send a score once; what is sent is on the disk before, and that it was taken behind."""
        row = sending.row
        if sending.has_ours:
            self._notes.begin(row)
        sending.stamp = self._stamps.next(row.key, sending.later_than)
        try:
            self._access.post(self._column.url, self._message(sending))
        except UncertainError:
            sending.is_open = True
            raise
        except ServerError:
            if not sending.is_open:
                self._notes.refused(row)
            raise
        if sending.has_ours:
            self._notes.taken(row)

    def _after_silence(self, sending: _Sending) -> Outcome | None:
        """Return what became of a score whose answer was lost; None if it may be sent again."""
        row, result = sending.row, self._read(sending.row)
        if self._is_done(sending, result):
            if sending.has_ours:
                self._notes.taken(row)
            return self._outcome(sending, result)
        if not sending.has_ours or not self._notes.appends:
            return None
        if result is not None and result.comment is not None:
            known = says(result.comment, row.comment)
        elif self._readable and (row.changes_score or self._tells_comments):
            known = False
        elif self._readable:
            return Outcome(row=row, state=State.FAILED, reason=DOUBT)
        else:
            known, sending.doubt = True, True
        if known:
            # The score may go again; in Canvas the comment would be there twice.
            sending.comment = ""
        return None

    def _after_conflict(
        self, sending: _Sending, refused: PlatformRefusedError, attempt: int
    ) -> Outcome | None:
        """Return what became of a score that was refused as too old; None if it may go with a later time."""
        row, grade, result = sending.row, sending.grade, self._read(sending.row)
        if self._has_score(sending, result) and self._has_comment(row, result):
            return self._outcome(sending, result)
        if changed := self._changed(row, grade, result):
            return changed
        at = refused.at if refused.at is not None and self._stamps.is_sane(refused.at) else sending.stamp
        later = max(sending.stamp, at) + LATER * (2**attempt - 1)
        sending.later_than = later.replace(microsecond=999_000)
        return None

    def _message(self, sending: _Sending) -> LtiGrade:
        row, grade = sending.row, sending.grade
        message = LtiGrade().set_user_id(row.key).set_timestamp(written(sending.stamp))
        message.set_activity_progress("Completed")
        # Canvas would ask where the score is, if it was done with a student without one.
        message.set_grading_progress("FullyGraded" if row.after else "NotReady")
        if row.after:
            message.set_score_given(number(Decimal(row.after))).set_score_maximum(number(grade.max_points))
        if sending.comment:
            message.set_comment(sending.comment)
        handed_in = written(grade.submitted_at.replace(tzinfo=UTC)) if grade.submitted_at else ""
        if handed_in:
            message.set_submitted_at(handed_in)
        registration = self._access.registration
        if registration.lms is Lms.CANVAS:
            made: dict[str, object] = {"new_submission": registration.new_submission}
            if registration.new_submission and handed_in:
                made["submitted_at"] = handed_in
            message.set_extra_claims({CANVAS_SUBMISSION: made})
        return message

    def _read(self, row: Row) -> Result | None:
        """Return what the platform has for a student; None if there is nothing, or it does not tell."""
        if not self._readable:
            return None
        try:
            result = self._access.results(self._column.url, row.key).get(row.key)
        except PlatformRefusedError as refused:
            if refused.status not in NO_RIGHT:
                raise
            self._readable = False
            return None
        self._tells_comments |= result is not None and result.comment is not None
        return result

    def _verified(self, sending: _Sending) -> Outcome:
        """Return what became of a score that the platform says it has."""
        result = None
        for wait_s in SETTLES_S:
            self._access.clock.sleep(wait_s)
            result = self._read(sending.row)
            if not self._readable or (
                self._has_score(sending, result) and self._has_comment(sending.row, result)
            ):
                break
        return self._outcome(sending, result)

    def _outcome(self, sending: _Sending, result: Result | None) -> Outcome:
        row = sending.row
        found = shown(result, sending.grade.max_points)
        if sending.doubt:
            return Outcome(
                row=row, state=State.FAILED, found=found, reason=f"the score was sent, but {DOUBT}"
            )
        if not self._readable or self._untold(row, result):
            return Outcome(row=row, state=State.SENT)
        if not is_near(found, row.after, self._column, sending.grade.max_points):
            reason = (
                f"the platform took it and has {found or 'no score'} nevertheless; the grade may be locked "
                "or overridden there, or be above what the column allows"
            )
            return Outcome(row=row, state=State.FAILED, found=found, reason=reason)
        if not self._has_comment(row, result):
            reason = "the score is there, the comment is not; look at it in the LMS"
            return Outcome(row=row, state=State.FAILED, found=found, reason=reason)
        return Outcome(row=row, state=State.VERIFIED, found=found)

    def _is_done(self, sending: _Sending, result: Result | None) -> bool:
        """Return whether a score whose answer was lost has surely arrived, and its comment with it."""
        row = sending.row
        if result is None or not self._has_score(sending, result) or not self._has_comment(row, result):
            return False
        return row.changes_score or not sending.comment or result.comment is not None

    def _has_score(self, sending: _Sending, result: Result | None) -> bool:
        """Return whether a score is there, rounded perhaps; the one of before is no rounded one."""
        row, found = sending.row, shown(result, sending.grade.max_points)
        if same_score(found, row.before):
            return same_score(found, row.after)
        return is_near(found, row.after, self._column, sending.grade.max_points)

    @staticmethod
    def _has_comment(row: Row, result: Result | None) -> bool:
        if not row.comment or result is None or result.comment is None:
            return True
        return says(result.comment, row.comment)

    def _untold(self, row: Row, result: Result | None) -> bool:
        """Return whether it is a zero of Moodle's, which tells neither a zero nor nothing."""
        is_zero = bool(row.after) and same_score(row.after, "0")
        return is_zero and result is not None and result.share is None and self._lms is Lms.MOODLE

    @property
    def _lms(self) -> Lms:
        return self._access.registration.lms

    def _changed(self, row: Row, grade: Grade, result: Result | None) -> Outcome | None:
        """Return that nothing is replaced which somebody gave since the plan was made."""
        found, repeat = shown(result, grade.max_points), "repeat the command to see it"
        if not self._readable:
            return None
        told = None if result is None else result.comment
        reason = ""
        if not same_score(found, row.before) and not same_score(found, row.after):
            reason = f"somebody has changed the score to {found or 'none'} meanwhile; {repeat}"
        elif row.comment and self._notes.is_foreign(row.key, told, row.comment):
            reason = f"somebody has written a comment meanwhile; {repeat}"
        return Outcome(row=row, state=State.FAILED, found=found, reason=reason) if reason else None


def _is_of_all(problem: ServerError) -> bool:
    """Return whether others would fail alike."""
    if isinstance(problem, TokenRefusedError) or not isinstance(problem, PlatformRefusedError):
        return True
    return problem.status in _OF_ALL


def _is_conflict(refused: PlatformRefusedError) -> bool:
    return refused.status == _CONFLICT or "timestamp" in refused.said.casefold()
