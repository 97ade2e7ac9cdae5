"""
What a plan says, done: one student at a time, with all that Moodle would else lose, and read back.

Moodle replaces the comment and the files of a student whenever a score is
saved. So what is there and not ours is read just before, and sent again.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from autograder.errors import ServerError, SubmissionError
from autograder.lms.push.feedback import read_feedback
from autograder.lms.push.model import (
    FAILURES_IN_A_ROW,
    Action,
    Outcome,
    State,
    failed,
    same_score,
    score_text,
)
from autograder.lms.push.moodle.hiding import COMMENTS, Sight, hides_feedback, hides_score
from autograder.lms.push.moodle.marks import Marks, to_html
from autograder.lms.push.moodle.reading import Held, read_held, read_scores, read_states, state_of
from autograder.lms.push.moodle.service import OF_ALL, MoodleRefusedError
from autograder.lms.push.wanted import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.lms.push.model import Plan, Row
    from autograder.lms.push.moodle.finding import Found
    from autograder.lms.push.moodle.service import Service
    from autograder.lms.push.record import Record

HTML = 1
"""Moodle's number of the format of a text."""
CLEARED = Decimal(-1)
"""What Moodle takes for no score."""

_OURS = re.compile(r"feedback_[A-Za-z0-9.-]+_[0-9a-f]{12}\.[a-z0-9]{1,8}")


class Sender:
    """
    Does what plans say.

    Parameters
    ----------
    service : Service
        Which Moodle.
    found : Found
        Which assignment.
    assignment : str
        The assignment's name in this course.
    record : Record
        What was sent before; it is held by the caller.
    """

    def __init__(self, service: Service, found: Found, assignment: str, record: Record) -> None:
        self._service = service
        self._found = found
        self._assignment = assignment
        self._marks = Marks(record)
        self._states: Mapping[str, str] = {}

    def send(self, plan: Plan) -> Iterator[Outcome]:
        """
        Send what a plan says.

        Parameters
        ----------
        plan : Plan
            The plan.

        Yields
        ------
        Outcome
            One for each row of `Plan.to_send`.

        Raises
        ------
        ServerError
            If Moodle cannot be reached any more, or refuses everybody.
        """
        if self._found.workflow:
            self._states = read_states(self._service, self._found)
        in_a_row = 0
        for row in plan.to_send:
            problem: ServerError | None = None
            try:
                outcome = self._sent(row)
            except SubmissionError as error:
                outcome = Outcome(row=row, state=State.FAILED, reason=str(error))
            except ServerError as error:
                problem = error
                outcome = failed(row, error)
            in_a_row = in_a_row + 1 if problem is not None and _is_of_all(problem) else 0
            if outcome.state is not State.FAILED:
                self._marks.end(row)
            yield outcome
            if in_a_row == FAILURES_IN_A_ROW and problem is not None:
                raise problem

    def _sent(self, row: Row) -> Outcome:
        held = read_held(self._service, self._found, row.key)
        state = state_of(held, self._states, row.key)
        if why := self._reason_not(row, held, state):
            return why
        self._marks.begin(row)
        self._service.call(
            "mod_assign_save_grade",
            assignmentid=self._found.id,
            userid=int(row.key),
            grade=CLEARED if row.action is Action.CLEAR else Decimal(row.after),
            attemptnumber=-1,
            addattempt=False,
            workflowstate=state if self._found.workflow else "",
            # Else Moodle would give the score to the whole team.
            applytoall=False,
            plugindata=self._carried(row, held),
        )
        return self._verified(row, held)

    def _reason_not(self, row: Row, held: Held, state: str) -> Outcome | None:
        """Return that nothing is sent, if somebody has changed what the plan told, or nobody can see it."""
        asks = not held.seen and (row.before or hides_score(self._found, state))
        scores = read_scores(self._service, self._found) if asks else {}
        sight = Sight(found=self._found, user=row.key, held=held, state=state, scores=scores)
        before, repeat = score_text(sight.score), "repeat the command to see it"
        reason = sight.obstacle(files=row.file is not None)
        if reason:
            return Outcome(row=row, state=State.FAILED, reason=reason)
        if not same_score(before, row.before) and not same_score(before, row.after):
            reason = f"somebody has changed the score to {before or 'none'} meanwhile; {repeat}"
        elif row.comment and held.words and not self._marks.is_ours(row.key, held.words, row.comment):
            reason = f"somebody has written a comment meanwhile; {repeat}"
        return Outcome(row=row, state=State.FAILED, found=before, reason=reason) if reason else None

    def _carried(self, row: Row, held: Held) -> dict[str, Any]:
        """Return comment and files, ours and what there is of others."""
        carried: dict[str, Any] = {}
        if COMMENTS in self._found.plugins:
            ours = {"text": to_html(row.comment), "format": HTML}
            theirs = {"text": held.comment, "format": held.comment_format}
            carried["assignfeedbackcomments_editor"] = ours if row.comment else theirs
        if row.file is not None:
            feedback = read_feedback(row.file, self._assignment, row.key)
            files = [(feedback.name, feedback.data)]
            files += [
                (file.name, self._service.download(file.url))
                for file in held.files
                if not _OURS.fullmatch(file.name) and file.name != feedback.name
            ]
            carried["files_filemanager"] = self._service.upload(files)
        return carried

    def _verified(self, row: Row, before: Held) -> Outcome:
        """Return what became of a row that Moodle says it has done."""
        held = read_held(self._service, self._found, row.key)
        score, is_hidden = held.score, False
        if not held.seen:
            state = state_of(held, self._states, row.key)
            is_hidden = hides_feedback(self._found, state)
            scores = read_scores(self._service, self._found)
            untold = hides_score(self._found, state) or self._found.team
            if row.key not in scores and untold and row.after:
                return Outcome(row=row, state=State.SENT)
            score = scores.get(row.key)
        found = score_text(score)
        if not same_score(found, row.after):
            reason = (
                f"Moodle took it and has {found or 'no score'} nevertheless; the grade may be locked or "
                "overridden in the gradebook, or the assignment be graded by a rubric"
            )
            return Outcome(row=row, state=State.FAILED, found=found, reason=reason)
        if is_hidden and (row.comment or row.file_name):
            return Outcome(row=row, state=State.SENT, found=found)
        return self._with_feedback(row, before, held, found)

    def _with_feedback(self, row: Row, before: Held, held: Held, found: str) -> Outcome:
        wants = words_of(to_html(row.comment)) if row.comment else before.words
        if COMMENTS in self._found.plugins and (held.seen or row.comment) and held.words != wants:
            reason = "the score is there, the comment is another one; look at it in Moodle"
            return Outcome(row=row, state=State.FAILED, found=found, reason=reason)
        if row.file_name and row.file_name not in {file.name for file in held.files}:
            reason = "the score is there, the feedback file is not; look at it in Moodle"
            return Outcome(row=row, state=State.FAILED, found=found, reason=reason)
        return Outcome(row=row, state=State.VERIFIED, found=found)


def _is_of_all(problem: ServerError) -> bool:
    """Return whether others would fail alike."""
    return not isinstance(problem, MoodleRefusedError) or problem.code in OF_ALL
