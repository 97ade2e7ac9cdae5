"""From grades here and results there to what is sent: the difference, and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Lms, Person, points_text
from autograder.lms.push.lti.finding import label_of
from autograder.lms.push.lti.members import read_members
from autograder.lms.push.lti.service import PlatformRefusedError
from autograder.lms.push.matching import match_members
from autograder.lms.push.model import Action, Plan, Row, same_score, score_text
from autograder.lms.push.record import digest
from autograder.lms.push.wanted import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from decimal import Decimal

    from autograder.lms.model import Grade
    from autograder.lms.push.lti.access import Access, Column, Result
    from autograder.lms.push.matching import Members
    from autograder.lms.push.record import Record
    from autograder.lms.push.wanted import Wanted

FACT = "sent"
"""What the record calls the hash of what was sent last."""

NO_RIGHT = frozenset({400, 401, 403, 404, 405, 501})
"""What platforms answer that do not let the tool read results."""

_SHOWN = 5


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
        self._record = record
        self._lms = lms

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
        if not after:
            return replace(row, action=Action.CLEAR, reason=reason)
        comment = self._wanted.comment(grade)
        mark = self._record is not None and self._record.of(key).get(FACT) == sent_mark(grade, after, comment)
        if self._has_score(result, before, after, mark=mark) and self._has_comment(
            result, comment, mark=mark
        ):
            return replace(row, action=Action.UNCHANGED, before=after, after=after, reason=self._unseen())
        return replace(
            row, action=Action.SEND, after=after, comment=comment, reason=self._cleared(result, comment)
        )

    def _unmatched(self, grade: Grade, reason: str) -> Row:
        after, why = self._wanted.after(grade, "")
        if not after:
            return Row(student=grade.student, action=Action.SKIP, reason=why)
        why = f"{reason}; collect with the roster that `autograder push lti --roster-to` writes"
        return Row(student=grade.student, action=Action.BLOCKED, after=after, reason=why)

    def _has_score(self, result: Result | None, before: str, after: str, *, mark: bool) -> bool:
        if self._known.results is None:
            return mark
        # Moodle tells neither a zero nor nothing.
        untold = result is not None and result.share is None and same_score(after, "0")
        return before == after or (untold and mark)

    def _has_comment(self, result: Result | None, comment: str, *, mark: bool) -> bool:
        if not comment or self._known.results is None or result is None or result.comment is None:
            return not comment or mark
        return result.comment == folded(comment)

    def _unseen(self) -> str:
        return "it was sent before, as our record says" if self._known.results is None else ""

    def _cleared(self, result: Result | None, comment: str) -> str:
        if comment or result is None or not result.comment or self._lms is Lms.CANVAS:
            return ""
        return "the comment that is there goes away, for a score without a comment says that there is none"


def shown(result: Result | None, max_points: Decimal) -> str:
    """Return the score that a platform tells, in points of the assignment; empty for none."""
    if result is None or result.share is None:
        return ""
    return score_text(result.share * max_points)


def sent_mark(grade: Grade, after: str, comment: str) -> str:
    """Return a hash of what is sent for a student."""
    return digest(json.dumps([after, points_text(grade.max_points), comment]))


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
    if column is None and ours is not None:
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
