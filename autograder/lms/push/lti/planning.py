"""From grades here and results there to what is sent: the difference, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Person, points_text
from autograder.lms.push.lti.finding import label_of
from autograder.lms.push.lti.members import read_members
from autograder.lms.push.lti.notes import DOUBT, Arrival, Notes
from autograder.lms.push.lti.service import PlatformRefusedError
from autograder.lms.push.matching import match_members
from autograder.lms.push.model import TOLERANCE, Action, Plan, Row, same_score, score_text
from autograder.lms.push.wanted import says

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.lms.model import Grade
    from autograder.lms.push.lti.access import Access, Column, Result
    from autograder.lms.push.matching import Members
    from autograder.lms.push.record import Record
    from autograder.lms.push.wanted import Wanted

NO_RIGHT = frozenset({400, 401, 403, 404, 405, 501})
"""What platforms answer that do not let the tool read results."""

_SHOWN = 5
_NO_POINTS = (
    "the assignment has no points here, and a score over LTI is a part of some; give its cells points"
)
_OURS_INSTEAD = "; take it away in the LMS to send ours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """
    What is known of a platform before a plan is made.

    Parameters
    ----------
    column : Column or None
        The line item; None if it is still to be made.
    results : mapping of str to Result, or None
        What students have, by their ids in LTI; None if the tool may not see it.
    people : sequence of Person
        Who may get scores.
    notes : tuple of str
        What the instructor must know of them.
    """

    column: Column | None
    results: Mapping[str, Result] | None = field(default_factory=dict)
    people: Sequence[Person] = ()
    notes: tuple[str, ...] = ()

    @property
    def tells_comments(self) -> bool:
        """Whether the platform is seen to tell comments: then one that it does not tell is not there."""
        return any(result.comment is not None for result in (self.results or {}).values())


def look(access: Access, column: Column | None, grades: Sequence[Grade]) -> Known:
    """
    Ask a platform for all that a plan needs.

    Parameters
    ----------
    access : Access
        The platform.
    column : Column or None
        The line item, if there is one.
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
    registration, notes = access.registration, []
    results: Mapping[str, Result] | None = {}
    if column is not None:
        try:
            results = access.results(column.url)
        except PlatformRefusedError as refused:
            if refused.status not in NO_RIGHT:
                raise
            results = None
            notes.append(
                f"What students have there the tool may not see ({refused.said}): nothing is verified."
            )
    if registration.context_memberships_url:
        roster = read_members(access.connector, registration.context_memberships_url, registration.lms)
        return Known(column=column, results=results, people=roster.people, notes=(*notes, *roster.notes))
    notes.append(
        "Who is in the course is not asked (no context_memberships_url): students need known LTI ids."
    )
    return Known(column=column, results=results, people=_by_ids(grades, registration.lms), notes=tuple(notes))


def make_plan(access: Access, known: Known, wanted: Wanted, record: Record | None) -> Plan:
    """
    Compare what is wanted with what a platform has; nothing is changed.

    Parameters
    ----------
    access : Access
        The platform.
    known : Known
        What it has.
    wanted : Wanted
        What is to be there.
    record : Record or None
        What was sent before; None if there is no line item yet.

    Returns
    -------
    Plan
        A row for each grade.
    """
    members = match_members(known.people, wanted.grades)
    planner = _Planner(known=known, wanted=wanted, record=record, lms=access.registration.lms)
    rows = tuple(planner.row(grade, members) for grade in sorted(wanted.grades, key=lambda one: one.student))
    column = known.column
    label = label_of(access, wanted.assignment) if column is None else column.label or wanted.assignment
    where = f"{label} ({access.registration.lineitems.partition('?')[0] if column is None else column.url})"
    notes = (*_notes(access, known, wanted, rows), *known.notes)
    if wanted.everybody:
        notes = (*notes, *_strangers(known.people, members))
    return Plan(
        lms=access.registration.lms,
        where=access.connector.session.scrubbed(where),
        rows=rows,
        notes=tuple(access.connector.session.scrubbed(note) for note in notes),
    )


class _Planner:
    """What one plan is made of."""

    def __init__(self, *, known: Known, wanted: Wanted, record: Record | None, lms: Lms) -> None:
        self._known = known
        self._wanted = wanted
        self._notes = Notes(record, lms)
        self._obstacle = _obstacle(known.column)

    def row(self, grade: Grade, members: Members) -> Row:
        """Return a student's row."""
        person = members.people.get(grade.student)
        if person is None:
            return self._unmatched(grade, members.reasons[grade.student])
        key = person.ids[IdKind.LTI]
        result = (self._known.results or {}).get(key)
        before = shown(result, grade.max_points)
        after, reason = self._wanted.after(grade, before)
        row = Row(student=grade.student, key=key, action=Action.SKIP, before=before, name=person.shown)
        if after is None:
            return replace(row, after=before, reason=reason)
        if obstacle := self._obstacle or ("" if grade.max_points > 0 else _NO_POINTS):
            return replace(row, action=Action.BLOCKED, after=after, reason=obstacle)
        if not after:
            return replace(row, action=Action.CLEAR, reason=reason)
        has_score = self._has_score(row, grade, result, after)
        return self._commented(replace(row, after=after), grade, result, has_score=has_score)

    def _commented(self, row: Row, grade: Grade, result: Result | None, *, has_score: bool) -> Row:
        """Return a row with the comment that is not there yet."""
        comment = self._wanted.comment(grade)
        told = None if result is None else result.comment
        same = replace(row, before=row.after)
        if self._notes.is_foreign(row.key, told, comment):
            why = f"a comment that is not ours is there and stays{_OURS_INSTEAD if comment else ''}"
            row = replace(row, reason=why)
            if not has_score:
                return replace(row, action=Action.SEND)
            # What is left out is listed, so that nobody waits for it.
            left = Action.SKIP if comment else Action.UNCHANGED
            return replace(same, action=left, reason=row.reason)
        arrival = self._arrival(row, comment, told)
        if arrival is Arrival.UNKNOWN:
            row = replace(row, reason=DOUBT)
            return (
                replace(same, action=Action.SKIP, reason=DOUBT)
                if has_score
                else replace(row, action=Action.SEND)
            )
        has_comment = arrival is Arrival.YES or self._has_comment(row, result, comment)
        if has_score and has_comment:
            return replace(same, action=Action.UNCHANGED, reason=self._unseen())
        reason = self._cleared(told, comment)
        if self._notes.appends and has_comment:
            comment = ""
        return replace(row, action=Action.SEND, comment=comment, reason=reason)

    def _arrival(self, row: Row, comment: str, told: str | None) -> Arrival:
        """Return what became of a comment of an earlier push; one that takes another's place may go again."""
        if not self._notes.appends or told is not None or self._known.tells_comments:
            return Arrival.NO
        return self._notes.arrival(row.key, comment, None if self._known.results is None else row.before)

    def _unmatched(self, grade: Grade, reason: str) -> Row:
        after, why = self._wanted.after(grade, "")
        if not after:
            return Row(student=grade.student, action=Action.SKIP, reason=why)
        why = f"{reason}; collect with the roster that `autograder push lti --roster-to` writes"
        return Row(student=grade.student, action=Action.BLOCKED, after=after, reason=why)

    def _has_score(self, row: Row, grade: Grade, result: Result | None, after: str) -> bool:
        sent = self._notes.score_was_sent(row.key, grade, after)
        if self._known.results is None:
            return sent
        # Moodle tells neither a zero nor nothing.
        untold = result is not None and result.share is None and same_score(after, "0")
        # What is told may be ours, as the column's own points hold it.
        rounded = bool(row.before) and self._notes.was_told(row.key, row.before)
        near = rounded and is_near(row.before, after, self._known.column, grade.max_points)
        return row.before == after or (sent and (untold or near))

    def _has_comment(self, row: Row, result: Result | None, comment: str) -> bool:
        if not comment:
            return True
        if self._known.results is not None and result is None:
            return False
        if result is None or result.comment is None:
            return self._notes.comment_was_sent(row.key, comment)
        return says(result.comment, comment)

    def _unseen(self) -> str:
        return "it was sent before, as our record says" if self._known.results is None else ""

    def _cleared(self, told: str | None, comment: str) -> str:
        if comment or not told or self._notes.appends:
            return ""
        return "the comment that is there goes away, for a score without a comment says that there is none"


def _obstacle(column: Column | None) -> str:
    """Return why a column takes no score, or nothing."""
    if column is None or column.maximum is None or column.maximum > 0:
        return ""
    return "the column has no points in the LMS, where every score would be nothing; give it some there"


def is_near(told: str, after: str, column: Column | None, max_points: Decimal) -> bool:
    """
    Return whether a score that a platform tells is ours, as its column holds it.

    Parameters
    ----------
    told, after : str
        What it tells, and what was sent, in points of the assignment; empty for none.
    column : Column or None
        The column, which may count fewer points: a hundredth of one of its points is more of ours.
    max_points : Decimal
        The assignment's points.

    Returns
    -------
    bool
        True if they differ by no more than half of the last decimal that is sent, or that the column
        keeps if it keeps two.
    """
    if same_score(told, after):
        return True
    points = None if column is None else column.maximum
    if not points or points >= max_points or not told or not after or told == "?":
        return False
    # What is told is rounded once more, to be shown.
    most = TOLERANCE * (max_points / points) + TOLERANCE
    return abs(Decimal(told) - Decimal(after)) <= most


def shown(result: Result | None, max_points: Decimal) -> str:
    """Return the score that a platform tells, in points of the assignment; empty for none."""
    if result is None or result.share is None:
        return ""
    return score_text(result.share * max_points)


def _by_ids(grades: Sequence[Grade], lms: Lms) -> tuple[Person, ...]:
    """Return people made of ids alone, where a platform does not tell who is in the course."""
    people = {}
    for grade in grades:
        found = [person.ids[IdKind.LTI] for person in grade.people if person.ids.get(IdKind.LTI)]
        known = grade.person(lms)
        if lms is Lms.MOODLE and known is not None:
            found.append(known.ids.get(IdKind.USER, ""))
        key = next((one for one in (*found, grade.lms_user_id) if one), "")
        if key:
            kinds = (IdKind.LTI, IdKind.USER) if lms is Lms.MOODLE else (IdKind.LTI,)
            people[key] = Person(lms=lms, name=key, ids=dict.fromkeys(kinds, key))
    return tuple(people.values())


def _strangers(people: Sequence[Person], members: Members) -> Iterator[str]:
    matched = {person.ids[IdKind.LTI] for person in members.people.values()}
    names = [person.shown for person in people if person.ids[IdKind.LTI] not in matched]
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield f"Only in the LMS: {'; '.join(names[:_SHOWN])}{more}."


def _notes(access: Access, known: Known, wanted: Wanted, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what holds for everybody."""
    column, ours = known.column, wanted.max_points
    if column is None and ours is not None and ours > 0:
        label = label_of(access, wanted.assignment)
        yield f"There is no line item yet: {label!r} of {points_text(ours)} points is made."
    elif column is not None and column.maximum is not None and ours is not None and column.maximum != ours:
        yield (
            f"The column counts {points_text(column.maximum)} points, the course {points_text(ours)}: "
            "the LMS converts each score."
        )
    sends = any(row.action is Action.SEND for row in rows)
    if sends and not wanted.comments and access.registration.lms is not Lms.CANVAS:
        yield "Scores go without comments, which takes away those that the tool sent before."
    if wanted.feedback:
        yield "LTI carries no files: feedback goes by `autograder feedback --zip`, or another push."
    if access.registration.new_submission and access.registration.lms is Lms.CANVAS:
        yield "Each score makes a new submission in Canvas (new_submission), which counts as an attempt."
