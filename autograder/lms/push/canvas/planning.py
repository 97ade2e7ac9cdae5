"""From grades here and what is in Canvas to what is sent: the difference, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autograder.errors import SubmissionError
from autograder.lms.model import GradeState, IdKind, Lms, Person
from autograder.lms.push.canvas.carried import LONGEST_COMMENT, has_file, has_text
from autograder.lms.push.canvas.finding import Held, read_held, read_students
from autograder.lms.push.canvas.groups import Known, by_group, is_grouped
from autograder.lms.push.feedback import read_feedback
from autograder.lms.push.matching import NOBODY, match_members
from autograder.lms.push.model import EXCUSED, Action, Plan, Row, same_score, score_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.lms.model import Grade
    from autograder.lms.push.canvas.access import Access
    from autograder.lms.push.canvas.finding import Found, Student
    from autograder.lms.push.record import Record
    from autograder.lms.push.wanted import Wanted

_SHOWN = 5
_SIS, _LOGIN = "sis_user_id:", "sis_login_id:"


def make_plan(access: Access, found: Found, wanted: Wanted, record: Record) -> Plan:
    """
    Compare what is wanted with what Canvas has; nothing is changed.

    Parameters
    ----------
    access : Access
        Which Canvas.
    found : Found
        The assignment there.
    wanted : Wanted
        What is to be in it.
    record : Record
        What was sent before.

    Returns
    -------
    Plan
        A row for each grade.

    Raises
    ------
    ServerError
        If Canvas does not answer.
    """
    students = read_students(access, found)
    obstacle = _obstacle(found.facts)
    # Of an anonymous assignment Canvas tells everything but whose it is.
    held = {} if found.facts.get("anonymize_students") else read_held(access, found, students=students)
    planner = _Planner(found=found, wanted=wanted, record=record, students=students, held=held)
    rows = [replace(row, name=planner.name(row.key)) for row in planner.rows()]
    if obstacle:
        rows = [_blocked(row, obstacle) if _sends(row) else row for row in rows]
    if is_grouped(found.facts) and any(_sends(row) for row in rows):
        absent = {grade.student for grade in wanted.grades if grade.state is GradeState.MISSING}
        rows = by_group(access, found.facts, rows, Known(held=held, absent=absent, name=planner.shown))
    title = str(found.facts.get("name", ""))
    where = f"{title} ({found.id}), course {found.course.name} ({found.course.id}), {access.url}"
    notes = (*_notes(found.facts, wanted, held), *planner.strangers())
    return Plan(lms=Lms.CANVAS, where=access.session.scrubbed(where), rows=tuple(rows), notes=notes)


def _sends(row: Row) -> bool:
    return row.action in {Action.SEND, Action.CLEAR}


def _blocked(row: Row, reason: str) -> Row:
    return replace(row, action=Action.BLOCKED, comment="", file=None, file_name="", reason=reason)


def _obstacle(facts: Mapping[str, Any]) -> str:
    """Return why Canvas takes no score for an assignment, or nothing."""
    if facts.get("published") is False:
        return "the assignment is not published in Canvas; publish it there"
    if facts.get("grading_type") == "not_graded":
        return "the assignment is not graded in Canvas; choose another way to display the grade there"
    if facts.get("anonymize_students"):
        return (
            "Canvas hides whose work is whose until the grades are posted; turn anonymous grading off there"
        )
    if facts.get("moderated_grading") and not facts.get("grades_published"):
        return "the assignment is moderated in Canvas; its grades are released there, by the moderator"
    if facts.get("has_sub_assignments"):
        return "the assignment has checkpoints in Canvas, which have scores of their own; enter them there"
    return ""


class _Planner:
    """What one plan is made of."""

    def __init__(
        self,
        *,
        found: Found,
        wanted: Wanted,
        record: Record,
        students: Mapping[int, Student],
        held: Mapping[int, Held],
    ) -> None:
        self._facts = found.facts
        self._wanted = wanted
        self._record = record
        self._students = students
        self._held = held
        people = [student.person for student in students.values()]
        self._members = match_members(people, [_with_ids(grade) for grade in wanted.grades])

    def name(self, key: str) -> str:
        """Return what Canvas calls somebody."""
        return self.shown(int(key)) if key else ""

    def shown(self, user: int) -> str:
        """Return what Canvas calls a user, whoever they are."""
        known = self._students.get(user)
        return f"user {user}" if known is None else known.person.shown

    def rows(self) -> Iterator[Row]:
        """Yield a row for each grade, sorted by student."""
        for grade in sorted(self._wanted.grades, key=lambda one: one.student):
            person = self._members.people.get(grade.student)
            if person is None:
                yield self._unmatched(grade)
            else:
                yield self._row(grade, int(person.ids[IdKind.USER]))

    def strangers(self) -> Iterator[str]:
        """Yield who is only in Canvas: a student who is in one list only is a mistake in one of them."""
        known = {person.ids[IdKind.USER] for person in self._members.people.values()}
        unknown = sorted(
            student.person.shown
            for user, student in self._students.items()
            if str(user) not in known and not student.concluded
        )
        if unknown and self._wanted.everybody:
            more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
            yield f"Only in Canvas: {'; '.join(unknown[:_SHOWN])}{more}."

    def _unmatched(self, grade: Grade) -> Row:
        why = self._members.reasons.get(grade.student, NOBODY)
        reason = f"{why}; collect with the roster of that course, or enter the Canvas id as lms_user_id"
        after, why_not = self._after(grade, "")
        if after is None:
            return Row(student=grade.student, action=Action.SKIP, reason=why_not)
        return Row(student=grade.student, action=Action.BLOCKED, after=after, reason=reason)

    def _row(self, grade: Grade, user: int) -> Row:
        key = str(user)
        held = self._held.get(user)
        before = "" if held is None else EXCUSED if held.excused else score_text(held.score)
        row = Row(student=grade.student, key=key, action=Action.SKIP, before=before, after=before)
        after, reason = self._after(grade, before)
        if after is None:
            return replace(row, reason=reason)
        row = replace(row, after=after, reason=reason)
        if self._students[user].concluded:
            return _blocked(row, "their enrolment in Canvas has ended; an administrator can open it again")
        if held is None:
            # What hides everybody's work is told later, for all of them.
            hidden = self._facts.get("anonymize_students")
            what = "the assignment is not assigned to them in Canvas; assign it there"
            return replace(row, action=Action.SEND) if hidden else _blocked(row, what)
        if reason := self._unfit(after):
            return _blocked(row, reason)
        return self._carrying(row, grade, held)

    def _after(self, grade: Grade, before: str) -> tuple[str | None, str]:
        """Return the score that is wanted, None to leave what there is, and why."""
        if grade.state is GradeState.EXCUSED:
            return EXCUSED, ""
        if before == EXCUSED:
            return None, "they are excused in Canvas; take that away there if a score is to count"
        return self._wanted.after(grade, before)

    def _unfit(self, after: str) -> str:
        """Return why Canvas would make nothing of a score, or nothing."""
        most = self._facts.get("points_possible")
        if self._facts.get("grading_type") != "pass_fail" or after in {"", EXCUSED}:
            return ""
        if same_score(after, "0") or same_score(after, most):
            return ""
        return (
            f"the assignment is complete or incomplete in Canvas: 0 or {score_text(most)} only, "
            "anything else would take the score away; choose points there"
        )

    def _carrying(self, row: Row, grade: Grade, held: Held) -> Row:
        """Return a row with the comment and the file that Canvas does not have yet."""
        facts, reasons = self._record.of(row.key), [row.reason] if row.reason else []
        text = self._wanted.comment(grade)
        if len(text.encode()) > LONGEST_COMMENT:
            reasons.append(f"the comment is longer than {LONGEST_COMMENT} bytes and is left out")
            text = ""
        if text and has_text(held, text, facts):
            text = ""
        path, name = self._wanted.feedback.get(row.student) if grade.state is GradeState.GRADED else None, ""
        if path is not None:
            try:
                name = read_feedback(path, self._wanted.assignment, row.key).name
            except SubmissionError as problem:
                reasons.append(f"no feedback is sent: {problem.where} {problem.what}")
            if not name or has_file(held, name, facts):
                path, name = None, ""
        row = replace(row, comment=text, file=path, file_name=name, reason="; ".join(reasons))
        if row.before == row.after and not text and path is None:
            return replace(row, action=Action.UNCHANGED)
        if row.before and not row.after:
            return replace(row, action=Action.CLEAR)
        return replace(row, action=Action.SEND)


def _with_ids(grade: Grade) -> Grade:
    """Return a grade whose gradebook id, if it says which kind it is, is one by which Canvas knows them."""
    for prefix, kind in ((_SIS, IdKind.SIS), (_LOGIN, IdKind.LOGIN)):
        if grade.lms_user_id.startswith(prefix) and grade.person(Lms.CANVAS) is None:
            value = grade.lms_user_id.removeprefix(prefix)
            person = Person(lms=Lms.CANVAS, ids={kind: value}, student=grade.student)
            return replace(grade, people=(*grade.people, person))
    return grade


def _notes(facts: Mapping[str, Any], wanted: Wanted, held: Mapping[int, Held]) -> Iterator[str]:
    """Yield what holds for everybody."""
    most, ours = facts.get("points_possible"), wanted.max_points
    if most is not None and ours is not None and not same_score(most, ours):
        yield f"Canvas counts {score_text(most)} points for this assignment, the course {score_text(ours)}."
    if facts.get("post_manually") or facts.get("muted"):
        yield "Canvas hides scores and comments from students until you post them (Gradebook, Post grades)."
    if facts.get("in_closed_grading_period"):
        yield "The assignment is in a closed grading period: only an administrator's token can change scores."
    if is_grouped(facts):
        yield "It is a group assignment: Canvas gives a score to all members, comments to each their own."
    late = sum(one.deducted != 0 for one in held.values())
    if late:
        yield f"Canvas takes points off for late work itself, beside what the course does: {late} students."
