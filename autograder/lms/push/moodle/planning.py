"""From grades here and what is in Moodle to what is sent: the difference, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.lms.model import IdKind, Lms, points_text
from autograder.lms.push.feedback import read_feedback
from autograder.lms.push.matching import match_members
from autograder.lms.push.model import Action, Plan, Row, same_score, score_text
from autograder.lms.push.moodle.hiding import COMMENTS, FILES, Sight, hides_score
from autograder.lms.push.moodle.marks import Marks, to_html
from autograder.lms.push.moodle.reading import (
    FLAGS,
    read_held,
    read_locks,
    read_participants,
    read_scores,
    read_states,
    read_users,
    state_of,
)
from autograder.lms.push.wanted import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.lms.model import Grade, Person
    from autograder.lms.push.moodle.finding import Found
    from autograder.lms.push.moodle.reading import Held
    from autograder.lms.push.moodle.service import Service
    from autograder.lms.push.record import Record
    from autograder.lms.push.wanted import Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """
    What is known of an assignment in Moodle before a plan is made.

    Parameters
    ----------
    users : sequence of Person
        Who is in the course.
    scores : mapping of str to (Decimal or None)
        By Moodle's number of the user, those that it lists.
    locks : mapping of str to str
        By user why Moodle would not take a score.
    states : mapping of str to str
        By user the state of marking, where there are states.
    """

    users: Sequence[Person] = ()
    scores: Mapping[str, Decimal | None] = field(default_factory=dict)
    locks: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)


def look(service: Service, found: Found, grades: Sequence[Grade]) -> Known:
    """
    Ask Moodle for all that a plan needs of everybody.

    Parameters
    ----------
    service : Service
        Which Moodle.
    found : Found
        Which assignment.
    grades : sequence of Grade
        One for each student.

    Returns
    -------
    Known
        What it tells.

    Raises
    ------
    ServerError
        If it does not answer.
    """
    users = read_users(service, found)
    known = (grade.person(Lms.MOODLE) for grade in grades)
    if any(person is not None and person.ids.get(IdKind.PARTICIPANT) for person in known):
        # Work that was handed in without a name is known by the number of a participant.
        numbers = {user: number for number, user in read_participants(service, found).items()}
        users = tuple(_with_number(user, numbers.get(user.ids[IdKind.USER], "")) for user in users)
    return Known(
        users=users,
        scores=read_scores(service, found),
        locks=read_locks(service, found),
        states=read_states(service, found) if found.workflow and FLAGS in found.functions else {},
    )


def _with_number(user: Person, number: str) -> Person:
    return replace(user, ids={**user.ids, IdKind.PARTICIPANT: number}) if number else user


def make_plan(service: Service, found: Found, known: Known, wanted: Wanted, record: Record) -> Plan:
    """
    Compare what is wanted with what Moodle has; nothing is changed.

    Parameters
    ----------
    service : Service
        Which Moodle; it is asked for what single students have.
    found : Found
        Which assignment.
    known : Known
        What it has of everybody.
    wanted : Wanted
        What is to be there.
    record : Record
        What was sent before.

    Returns
    -------
    Plan
        A row for each grade.

    Raises
    ------
    ServerError
        If Moodle does not answer.
    """
    planner = _Planner(service, found, known, wanted, record)
    rows = tuple(planner.row(grade) for grade in sorted(wanted.grades, key=lambda one: one.student))
    where = f"{found.name} (cmid:{found.cmid}), course {found.course_name} ({found.course}), {service.url}"
    return Plan(
        lms=Lms.MOODLE,
        where=service.session.scrubbed(where),
        rows=rows,
        notes=tuple(_notes(found, wanted)),
    )


class _Planner:
    """What one plan is made of."""

    def __init__(self, service: Service, found: Found, known: Known, wanted: Wanted, record: Record) -> None:
        self._service = service
        self._found = found
        self._known = known
        self._wanted = wanted
        self._marks = Marks(record)
        self._members = match_members(known.users, wanted.grades)
        self._obstacle = _obstacle(found)

    def row(self, grade: Grade) -> Row:
        """Return a student's row."""
        person = self._members.people.get(grade.student)
        if person is None:
            return self._unmatched(grade)
        user = person.ids[IdKind.USER]
        row = Row(student=grade.student, key=user, action=Action.SKIP, name=person.shown)
        held = self._held(grade, user)
        score = self._known.scores.get(user) if user in self._known.scores or held is None else held.score
        before = score_text(score)
        after, reason = self._wanted.after(grade, before)
        if after is None:
            return replace(row, before=before, after=before, reason=reason)
        if reason_not := self._obstacle or self._unfit(after) or self._lock(user, before, after):
            return replace(row, action=Action.BLOCKED, before=before, after=after, reason=reason_not)
        row = replace(row, before=before, after=after)
        if not after:
            return self._unless_unseen(replace(row, action=Action.CLEAR, reason=reason), held)
        return self._carrying(row, grade, held)

    def _held(self, grade: Grade, user: str) -> Held | None:
        """Return what a student has, if that is of interest and not known already."""
        carries = self._wanted.comments or grade.student in self._wanted.feedback
        of_interest = self._wanted.after(grade, "0")[0] is not None and not self._obstacle
        if of_interest and (carries or self._found.workflow or user not in self._known.scores):
            return read_held(self._service, self._found, user)
        return None

    def _unmatched(self, grade: Grade) -> Row:
        after, reason = self._wanted.after(grade, "")
        if not after:
            return Row(student=grade.student, action=Action.SKIP, reason=reason)
        why = f"{self._members.reasons[grade.student]}; collect with the roster of that course"
        return Row(student=grade.student, action=Action.BLOCKED, after=after, reason=why)

    def _unfit(self, after: str) -> str:
        if after and Decimal(after) > self._found.most:
            most = points_text(self._found.most)
            return f"Moodle takes at most {most} points for it, and would leave more out without a word"
        return ""

    def _lock(self, user: str, before: str, after: str) -> str:
        return self._known.locks.get(user, "") if before != after else ""

    def _carrying(self, row: Row, grade: Grade, held: Held | None) -> Row:
        """Return a row with the comment and the file that Moodle does not have yet."""
        comment = self._wanted.comment(grade) if COMMENTS in self._found.plugins else ""
        path, name, reason = self._wanted.feedback.get(row.student), "", ""
        if grade.points is None or FILES not in self._found.plugins or not self._found.uploads:
            path = None
        if path is not None:
            try:
                name = read_feedback(path, self._wanted.assignment, row.key).name
            except SubmissionError as problem:
                path, reason = None, f"no feedback is sent: {problem.where} {problem.what}"
        row = replace(row, comment=comment, file=path, file_name=name, reason=reason)
        if held is None:
            return replace(row, action=self._action(row))
        if not held.seen:
            return self._unshown(row, held)
        if comment and held.words and not self._marks.is_ours(row.key, held.words, comment):
            why = "a comment that is not ours is there and stays; take it away in Moodle to send ours"
            row = replace(row, comment="", reason=f"{row.reason}; {why}" if row.reason else why)
        elif comment and held.words == words_of(to_html(comment)):
            row = replace(row, comment="")
        if any(file.name == name for file in held.files):
            row = replace(row, file=None, file_name="")
        action = self._action(row)
        # What is left out is listed, so that nobody waits for it.
        left = action is Action.UNCHANGED and row.reason
        return replace(row, action=Action.SKIP if left else action)

    def _unshown(self, row: Row, held: Held) -> Row:
        """Return the row of a student of whom Moodle shows neither score nor feedback."""
        listed, same = row.key in self._known.scores, row.before == row.after
        hidden = hides_score(self._found, state_of(held, self._known.states, row.key))
        sent = self._marks.were_sent(row, is_there=listed and same)
        if hidden and sent and (same or not listed):
            reason = "it was sent before, as our record says"
            row = replace(row, before=row.after, comment="", file=None, file_name="", reason=reason)
        return self._unless_unseen(replace(row, action=self._action(row)), held)

    @staticmethod
    def _action(row: Row) -> Action:
        same = row.before == row.after and not row.comment and row.file is None
        return Action.UNCHANGED if same else Action.SEND

    def _unless_unseen(self, row: Row, held: Held | None) -> Row:
        """Return a row, or a blocked one if it would replace what Moodle does not show."""
        if held is None or row.action is Action.UNCHANGED:
            return row
        state = state_of(held, self._known.states, row.key)
        sight = Sight(found=self._found, user=row.key, held=held, state=state, scores=self._known.scores)
        why = sight.obstacle(files=row.file is not None)
        return replace(row, action=Action.BLOCKED, reason=why) if why else row


def _obstacle(found: Found) -> str:
    """Return why Moodle takes no score for an assignment, or nothing."""
    if found.most < 0:
        return "the assignment has a scale in Moodle; choose points there (Grade, Type: Point)"
    if found.most == 0:
        return "the assignment is not graded in Moodle; choose points there (Grade, Type: Point)"
    if found.workflow and FLAGS not in found.functions:
        return (
            f"the assignment has a marking workflow, and without {FLAGS} its states would be reset; "
            "let an administrator add it to the service"
        )
    return ""


def _notes(found: Found, wanted: Wanted) -> Iterator[str]:
    """Yield what holds for everybody."""
    ours = wanted.max_points
    if found.most > 0 and ours is not None and not same_score(found.most, ours):
        yield (
            f"Moodle counts {points_text(found.most)} points for this assignment, the course "
            f"{points_text(ours)}: scores go as they are, not converted."
        )
    if found.workflow:
        yield "Marking has states there, which stay as they are: students see what is released."
    if found.blind:
        yield "Identities are hidden there: the gradebook and students get scores when they are revealed."
    if found.team:
        yield "Teams hand in there: each member gets the score of their own."
    if wanted.comments and COMMENTS not in found.plugins:
        yield "No comment is sent: feedback comments are off for this assignment."
    if wanted.feedback and FILES not in found.plugins:
        yield "No feedback is sent: feedback files are off for this assignment."
    elif wanted.feedback and not found.uploads:
        yield "No feedback is sent: the service of the token does not let it upload files."
