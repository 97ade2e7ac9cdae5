"""
What a plan says, done: scores in groups, comments one by one, all of it read back.

What somebody changed since the plan stays as it is. No answer is trusted: Canvas's
job for many scores may end well, fail in its middle, or last too long, and what
counts is what is found afterwards. And a comment whose answer is lost is looked
for before it is sent again.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from canvasapi.submission import Submission

from autograder.errors import RefusedError, ServerError, SubmissionError, UncertainError
from autograder.lms.push.canvas.carried import has_file, has_text, intended, shows_file, shows_text
from autograder.lms.push.canvas.finding import Held, comments_of, read_groups, read_held, read_students
from autograder.lms.push.canvas.groups import Groups, changes, gives, is_grouped
from autograder.lms.push.canvas.uploading import upload
from autograder.lms.push.feedback import read_feedback
from autograder.lms.push.model import EXCUSED, FAILURES_IN_A_ROW, Outcome, State, same_score, score_text
from autograder.lms.push.record import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from canvasapi.progress import Progress

    from autograder.lms.push.canvas.access import Access
    from autograder.lms.push.canvas.finding import Found
    from autograder.lms.push.feedback import Feedback
    from autograder.lms.push.model import Plan, Row
    from autograder.lms.push.record import Record

GROUP = 25
"""Students whose scores go together; after each group what was sent is read back."""
CARRYING_GROUP = 10
"""The same where comments and files go along, which take their time."""
JOB_S = 300.0
"""Seconds that one job of Canvas's is waited for; then scores go one by one."""
POLLS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between questions how far a job is; the last one again and again."""
SETTLES_S = (1.0, 3.0, 9.0)
"""Seconds after which a comment is looked for whose answer was lost: Canvas may still be at it."""
ATTEMPTS = 3
"""How often a comment is sent at most, each time after looking for it."""

_OPEN = {"queued", "running"}
_BY_SCHEME = {"letter_grade", "gpa_scale"}

_NOTHING = Held()


class Sender:
    """
    Does what plans say.

    Parameters
    ----------
    access : Access
        Which Canvas.
    found : Found
        The assignment there.
    assignment : str
        The assignment's name in this course.
    record : Record
        What was sent before; it is written while sending.
    """

    def __init__(self, access: Access, found: Found, assignment: str, record: Record) -> None:
        self._access = access
        self._found = found
        self._assignment = assignment
        self._record = record
        self._failed_in_a_row = 0
        self._groups = Groups({})
        self._planned: dict[int, Row] = {}
        self._students: Collection[int] = ()

    def send(self, plan: Plan) -> Iterator[Outcome]:
        """
        Send what a plan says, and read it back.

        Parameters
        ----------
        plan : Plan
            The plan. To stop in its middle does no harm: a new plan has the rest.

        Yields
        ------
        Outcome
            One for each row that is sent, group by group.

        Raises
        ------
        OperatorError
            If Canvas cannot be reached any more, does not know the token, or somebody else is sending.
        """
        rows: Sequence[Row] = plan.to_send
        self._planned = {int(row.key): row for row in rows}
        with self._record.held():
            if is_grouped(self._found.facts) and any(gives(row) for row in rows):
                # Excuses first: who is excused keeps that when another member gets a score.
                rows = sorted(rows, key=lambda row: row.after != EXCUSED)
                self._groups = Groups(read_groups(self._access, self._found.facts["group_category_id"]))
            carries = any(row.comment or row.file for row in rows)
            size = CARRYING_GROUP if carries else GROUP
            self._students = frozenset(read_students(self._access, self._found)) if carries else ()
            for start in range(0, len(rows), size):
                yield from self._group(rows[start : start + size])

    def _group(self, rows: Sequence[Row]) -> list[Outcome]:
        changed = self._changed(rows)
        rows = [row for row in rows if row.key not in {one.row.key for one in changed}]
        return [*changed, *(self._sent(rows) if rows else ())]

    def _changed(self, rows: Sequence[Row]) -> list[Outcome]:
        """Return what became of rows that are not sent: somebody changed the score since the plan."""
        fellows = {user for row in rows for user in self._groups.fellows(row)}
        users = sorted({int(row.key) for row in rows} | fellows)
        held = read_held(self._access, self._found, users)
        outcomes = []
        for row in rows:
            has, reason = held.get(int(row.key), _NOTHING), ""
            if not _is_as_before(row, has):
                reason = f"the score in Canvas became {_shown(has) or 'none'} since the plan was made"
            elif any(self._is_changed(user, held.get(user), row.after) for user in self._groups.fellows(row)):
                reason = "another member of the group got another score in Canvas since the plan was made"
            if reason:
                reason = f"{reason}; nothing is sent; repeat the command"
                outcomes.append(Outcome(row=row, state=State.FAILED, found=_shown(has), reason=reason))
        return outcomes

    def _is_changed(self, user: int, held: Held | None, after: str) -> bool:
        """Return whether a member would get a score over another one than the plan knew."""
        planned = self._planned.get(user)
        is_known = planned is not None and _is_as_before(planned, held or _NOTHING)
        return changes(held, after) and not is_known

    def _sent(self, rows: Sequence[Row]) -> list[Outcome]:
        scored = [row for row in rows if row.changes_score]
        # Numbers may be names of letters in a scheme; only one by one Canvas is told that they are points.
        if scored and str(self._found.facts.get("grading_type")) not in _BY_SCHEME:
            self._together(scored)
        held = self._read(rows)
        failures: dict[str, str] = {}
        for row in rows:
            try:
                # What is neither is somebody else's, or what Canvas makes of ours.
                if row.changes_score and _has(held[row.key], row.before):
                    self._alone(row)
                self._comment(row, held[row.key])
            except (RefusedError, SubmissionError) as problem:
                failures[row.key] = problem.what
            except ServerError as problem:
                failures[row.key] = problem.what
                self._failed_in_a_row += 1
                if self._failed_in_a_row >= FAILURES_IN_A_ROW:
                    raise
            else:
                self._failed_in_a_row = 0
        held = self._settled(rows, failures)
        outcomes = [self._outcome(row, held[row.key], failures.get(row.key, "")) for row in rows]
        self._record.save()
        return outcomes

    def _settled(self, rows: Sequence[Row], failures: Mapping[str, str]) -> dict[str, Held]:
        """Read back; for a while again where something is not there: Canvas reads from copies, too."""
        taken = [row for row in rows if row.key not in failures]
        held = self._read(rows)
        for wait_s in SETTLES_S:
            facts = {row.key: self._record.of(row.key) for row in taken}
            if not any(_difference(row, held[row.key], facts[row.key]) for row in taken):
                break
            self._access.clock.sleep(wait_s)
            held = self._read(rows)
        return held

    def _read(self, rows: Sequence[Row]) -> dict[str, Held]:
        found = read_held(self._access, self._found, [int(row.key) for row in rows], students=self._students)
        return {row.key: found.get(int(row.key), _NOTHING) for row in rows}

    def _together(self, rows: Sequence[Row]) -> None:
        """Hand Canvas many scores at once, and wait until it says that it is done."""
        data = {row.key: _score(row) for row in rows}
        try:
            # The same scores again are the same scores.
            with self._access.asking("the scores"), self._access.session.repeating():
                job = self._found.assignment.submissions_bulk_update(grade_data=data)
                self._wait_for(job)
        except ServerError:
            # What was done is read back; for the rest Canvas is asked one by one, and says why.
            return

    def _wait_for(self, job: Progress) -> None:
        clock, waits_s = self._access.clock, iter(POLLS_S)
        until_s = clock.now() + JOB_S
        wait_s = POLLS_S[0]
        while str(job.workflow_state) in _OPEN and clock.now() < until_s:
            wait_s = next(waits_s, wait_s)
            clock.sleep(wait_s)
            job = job.query()

    def _alone(self, row: Row) -> None:
        """Hand Canvas one score; if it refuses, it says why."""
        with self._access.asking(row.student), self._access.session.repeating():
            self._submission(row).edit(submission=_score(row), prefer_points_over_scheme=True)

    def _comment(self, row: Row, held: Held) -> None:
        """Send the comment and the file that Canvas does not have, in one comment."""
        facts = self._record.of(row.key)
        comment: dict[str, Any] = {}
        if row.comment and not has_text(held, row.comment, facts):
            comment["text_comment"] = row.comment
        if row.file is not None and not has_file(held, row.file_name, facts):
            feedback = self._feedback(row)
            comment["file_ids"] = [upload(self._access, self._place(row), feedback)]
        if not comment:
            return
        self._record.note(row.key, **intended(row, facts))
        self._record.save()
        # Everybody gets what is theirs, also where Canvas grades groups.
        self._send_comment(row, held, comment | {"group_comment": False})
        self._record.note(row.key, **_carried(row))
        self._record.save()

    def _send_comment(self, row: Row, held: Held, comment: Mapping[str, Any]) -> None:
        known = {one.id for one in held.comments}
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._access.asking(row.student):
                    answer = self._submission(row).edit(comment=dict(comment))
                    added = [
                        one.id for one in comments_of(vars(answer), self._students) if one.id not in known
                    ]
                self._record.note(row.key, comment_id=added[-1] if added else "")
            except UncertainError:
                if self._has_arrived(row):
                    return
                if attempt == ATTEMPTS:
                    raise
            else:
                return

    def _has_arrived(self, row: Row) -> bool:
        """Look for a comment whose answer was lost, for a while."""
        for wait_s in SETTLES_S:
            self._access.clock.sleep(wait_s)
            if not _missing(row, self._read([row])[row.key], self._record.of(row.key)):
                return True
        return False

    def _feedback(self, row: Row) -> Feedback:
        if row.file is None:
            raise AssertionError(row.student)
        feedback = read_feedback(row.file, self._assignment, row.key)
        if feedback.name != row.file_name:
            what = "the feedback has changed since the plan was made"
            raise SubmissionError(row.file, what, "Repeat the command.")
        return feedback

    def _place(self, row: Row) -> str:
        return f"courses/{int(self._found.course.id)}/assignments/{self._found.id}/submissions/{int(row.key)}"

    def _submission(self, row: Row) -> Submission:
        course, user = int(self._found.course.id), int(row.key)
        ids = {"course_id": course, "assignment_id": self._found.id, "user_id": user}
        return Submission(self._access.requester, ids)

    def _outcome(self, row: Row, held: Held, failure: str) -> Outcome:
        """Compare what is there with what was planned."""
        found, facts = _shown(held), self._record.of(row.key)
        reasons = [reason for reason in (failure, _difference(row, held, facts)) if reason]
        if _missing(row, held, facts):
            self._record.note(row.key, comment="", file="", comment_id="")
        if reasons:
            return Outcome(row=row, state=State.FAILED, found=found, reason="; ".join(reasons))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._record.note(row.key, score=row.after, at=now, **_carried(row))
        return Outcome(row=row, state=State.VERIFIED, found=found)


def _score(row: Row) -> dict[str, Any]:
    return {"excuse": True} if row.after == EXCUSED else {"posted_grade": row.after}


def _has(held: Held, score: str) -> bool:
    """Return whether Canvas has a score, or an excuse, as a plan writes them."""
    if score == EXCUSED:
        return held.excused
    return not held.excused and same_score(held.score, score)


def _is_as_before(row: Row, held: Held) -> bool:
    """Return whether nobody changed a score since the plan: it is as it was, or as it is to be."""
    return _has(held, row.before) or _has(held, row.after)


def _shown(held: Held) -> str:
    return EXCUSED if held.excused else score_text(held.score)


def _difference(row: Row, held: Held, facts: Mapping[str, str]) -> str:
    """Return what Canvas has otherwise than planned, or nothing."""
    reasons = []
    if row.changes_score and not _has(held, row.after):
        reasons.append(f"Canvas has {_shown(held) or 'no score'} instead of {row.after or 'no score'}")
    if missing := _missing(row, held, facts):
        reasons.append(f"Canvas does not show the {missing}")
    return "; ".join(reasons)


def _carried(row: Row) -> dict[str, str]:
    """Return what is noted of a comment and a file that were sent."""
    facts = {"comment": digest(row.comment)} if row.comment else {}
    return facts | ({"file": row.file_name} if row.file is not None else {})


def _missing(row: Row, held: Held, facts: Mapping[str, str]) -> str:
    """Return what Canvas does not show: "comment", "file" or both; nothing if it shows all."""
    # Its number is enough: Canvas may show a text in another form than it was sent in.
    shown = any(one.id == facts.get("comment_id") for one in held.comments)
    missing = ["comment"] if row.comment and not shown and not shows_text(held, row.comment, facts) else []
    if row.file is not None and not shows_file(held, row.file_name):
        missing.append("file")
    return " and the ".join(missing)
