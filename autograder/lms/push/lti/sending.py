"""
What a plan says, done: scores one by one, each with its own later time, and each read back.

A platform's "OK" is not believed. And a score whose answer is lost, or that is
refused as too old, is looked for before it is sent again.
"""

from __future__ import annotations

from datetime import UTC, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from pylti1p3.grade import Grade as LtiGrade

from autograder.errors import RefusedError, ServerError, UncertainError
from autograder.lms.model import Lms
from autograder.lms.push.lti.finding import number
from autograder.lms.push.lti.planning import FACT, NO_RIGHT, sent_mark, shown
from autograder.lms.push.lti.service import PlatformRefusedError, TokenRefusedError
from autograder.lms.push.lti.stamps import Stamps, written
from autograder.lms.push.model import Outcome, State, same_score
from autograder.lms.push.wanted import folded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from autograder.lms.model import Grade
    from autograder.lms.push.lti.access import Access, Column, Result
    from autograder.lms.push.model import Plan, Row
    from autograder.lms.push.record import Record
    from autograder.lms.push.wanted import Wanted

CANVAS_SUBMISSION = "https://canvas.instructure.com/lti/submission"
ATTEMPTS = 5
"""How often one score is sent at most, each time after looking what is there."""
SETTLES_S = (0.0, 1.0, 3.0)
"""Seconds before the result is read, each time that it is not yet as it was sent."""
DOWN = 2
"""After how many students in a row for whom nothing goes a platform is taken to be down."""
LATER = timedelta(seconds=1)
"""How much later a score is sent that was refused as too old; Moodle counts whole seconds."""

_OF_ALL = {401, 403, 404, 405}
"""What a platform answers where no student's score will do better."""
_CONFLICT = 409


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
    readable : bool
        False if the platform does not tell results.
    """

    def __init__(self, access: Access, column: Column, record: Record, *, readable: bool) -> None:
        self._access = access
        self._column = column
        self._record = record
        self._readable = readable
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
                outcome = Outcome(row=row, state=State.FAILED, reason=_said(error))
            in_a_row = in_a_row + 1 if problem is not None and _is_of_all(problem) else 0
            if outcome.state is not State.FAILED:
                mark = sent_mark(grades[row.student], row.after, row.comment)
                self._record.note(row.key, **{FACT: mark})
                self._record.save()
            yield outcome
            if in_a_row == DOWN and problem is not None:
                raise problem

    def _sent(self, row: Row, grade: Grade) -> Outcome:
        """Send a score until it is there."""
        later_than: datetime | None = None
        problem = ServerError(self._column.url.partition("?")[0], "no score goes", "Repeat the command.")
        for attempt in range(ATTEMPTS):
            stamp = self._stamps.next(row.key, later_than)
            try:
                self._access.post(self._column.url, self._message(row, grade, stamp))
            except UncertainError as error:
                self._access.clock.sleep(2.0**attempt)
                result = self._read(row)
                if self._is_done(row, grade, result):
                    return self._outcome(row, grade, result)
                problem = ServerError(error.where, error.what, error.remedy)
            except PlatformRefusedError as refused:
                if not _is_conflict(refused):
                    raise
                result = self._read(row)
                if self._is_there(row, grade, result):
                    return self._outcome(row, grade, result)
                if changed := self._changed(row, grade, result):
                    return Outcome(
                        row=row, state=State.FAILED, found=shown(result, grade.max_points), reason=changed
                    )
                later_than = max(stamp, refused.at or stamp) + LATER * (2**attempt - 1)
                later_than = later_than.replace(microsecond=999_000)
                problem = refused
            else:
                return self._verified(row, grade)
        raise problem

    def _message(self, row: Row, grade: Grade, stamp: datetime) -> LtiGrade:
        message = LtiGrade().set_user_id(row.key).set_timestamp(written(stamp))
        message.set_activity_progress("Completed")
        # Canvas would ask where the score is, if it was done with a student without one.
        message.set_grading_progress("FullyGraded" if row.after else "NotReady")
        if row.after:
            message.set_score_given(number(Decimal(row.after))).set_score_maximum(number(grade.max_points))
        if row.comment:
            message.set_comment(row.comment)
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
            return self._access.results(self._column.url, row.key).get(row.key)
        except PlatformRefusedError as refused:
            if refused.status not in NO_RIGHT:
                raise
            self._readable = False
            return None

    def _verified(self, row: Row, grade: Grade) -> Outcome:
        """Return what became of a score that the platform says it has."""
        result = None
        for wait_s in SETTLES_S:
            self._access.clock.sleep(wait_s)
            result = self._read(row)
            if not self._readable or self._is_there(row, grade, result):
                break
        return self._outcome(row, grade, result)

    def _outcome(self, row: Row, grade: Grade, result: Result | None) -> Outcome:
        found = shown(result, grade.max_points)
        if not self._readable or self._untold(row, result):
            return Outcome(row=row, state=State.SENT)
        if not self._has_score(row, grade, result):
            reason = (
                f"the platform took it and has {found or 'no score'} nevertheless; the grade may be locked "
                "or overridden there, or be above what the column allows"
            )
            return Outcome(row=row, state=State.FAILED, found=found, reason=reason)
        if not self._has_comment(row, result):
            reason = "the score is there, the comment is not; look at it in the LMS"
            return Outcome(row=row, state=State.FAILED, found=found, reason=reason)
        return Outcome(row=row, state=State.VERIFIED, found=found)

    def _is_there(self, row: Row, grade: Grade, result: Result | None) -> bool:
        return self._has_score(row, grade, result) and self._has_comment(row, result)

    def _is_done(self, row: Row, grade: Grade, result: Result | None) -> bool:
        """Return whether a score whose answer was lost has surely arrived, and its comment with it."""
        if result is None or not self._is_there(row, grade, result):
            return False
        return row.changes_score or not row.comment or result.comment is not None

    def _has_score(self, row: Row, grade: Grade, result: Result | None) -> bool:
        return same_score(shown(result, grade.max_points), row.after)

    @staticmethod
    def _has_comment(row: Row, result: Result | None) -> bool:
        if not row.comment or result is None or result.comment is None:
            return True
        return result.comment == folded(row.comment)

    def _untold(self, row: Row, result: Result | None) -> bool:
        """Return whether it is a zero of Moodle's, which tells neither a zero nor nothing."""
        is_zero = bool(row.after) and same_score(row.after, "0")
        return is_zero and result is not None and result.share is None and self._lms is Lms.MOODLE

    @property
    def _lms(self) -> Lms:
        return self._access.registration.lms

    def _changed(self, row: Row, grade: Grade, result: Result | None) -> str:
        """Return why a score must not be replaced: somebody gave another one since the plan was made."""
        found = shown(result, grade.max_points)
        if not self._readable or same_score(found, row.before):
            return ""
        return f"somebody has changed the score to {found or 'none'} meanwhile; repeat the command to see it"


def _is_of_all(problem: ServerError) -> bool:
    """Return whether others would fail alike."""
    if isinstance(problem, TokenRefusedError) or not isinstance(problem, PlatformRefusedError):
        return True
    return problem.status in _OF_ALL


def _is_conflict(refused: PlatformRefusedError) -> bool:
    return refused.status == _CONFLICT or "timestamp" in refused.said.casefold()


def _said(error: ServerError) -> str:
    """Return why a student's score did not go, and what to do."""
    if isinstance(error, RefusedError):
        return f"{error.what}. {error.remedy}"
    return f"{error.where}: {error.what}. {error.remedy}"
