"""The command `extend`: more time for a student, and penalties that fit it at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from autograder.course.late import course_penalty
from autograder.course.layout import plain_name
from autograder.course.timestamps import read_time
from autograder.errors import CourseError, nearest
from autograder.gradebook import Gradebook
from autograder.gradebook.extensions import Extension
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from autograder.course.course import Course

MAX_DAYS = 3650
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """
    How much more time is given; one of these.

    Parameters
    ----------
    time : timedelta
        After the due date; none if 0.
    until : str
        A time to hand in by, in UTC unless it names a zone.
    nothing : bool
        True to take back what was given.
    """

    time: timedelta = timedelta()
    until: str = ""
    nothing: bool = False

    def after(self, due: datetime | None) -> timedelta | None:
        """
        Return the time after a due date.

        Parameters
        ----------
        due : datetime or None
            When the assignment is due: naive, in UTC.

        Returns
        -------
        timedelta or None
            More than nothing; None to take back what was given.

        Raises
        ------
        CourseError
            If it is not after the due date, or too far, or no time.
        """
        if self.nothing:
            return None
        more = self.time
        if self.until:
            if due is None:
                what = "the assignment has no due date, so nothing can be extended until a time"
                remedy = "Set one: `nbgrader db assignment add NAME --duedate TIME`."
                raise CourseError("--until", what, remedy)
            more = _time(self.until) - due
        if not timedelta() < more <= timedelta(days=MAX_DAYS):
            what = f"an extension of {in_words(more)} is none" if more <= timedelta() else "that is too long"
            raise CourseError("extension", what, "Give more time than nothing, or take it back with --none.")
        return more


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended:
    """
    Extensions of an assignment.

    Parameters
    ----------
    assignment : str
        The assignment.
    due : datetime or None
        When it is due: naive, in UTC.
    extensions : tuple of Extension
        By student.
    """

    assignment: str
    due: datetime | None
    extensions: tuple[Extension, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON types; times in UTC, durations in seconds."""
        return {
            "assignment": self.assignment,
            "due": _utc(self.due),
            "extensions": [
                {
                    "student": one.student,
                    "extension_s": one.more.total_seconds() if one.more is not None else None,
                    "until": _utc(self.due + one.more) if self.due and one.more is not None else None,
                    "submitted": one.submitted,
                    "timestamp": _utc(one.timestamp),
                    "seconds_late": one.seconds_late,
                }
                for one in self.extensions
            ],
        }


def asked(
    course: Course,
    assignments: Sequence[str],
    students: Sequence[str],
    *,
    until: str = "",
    nothing: bool = False,
    **units: float,
) -> list[Extended]:
    """
    Do what the command line asks for.

    Parameters
    ----------
    course : Course
        The course.
    assignments : sequence of str
        Assignments of the course.
    students : sequence of str
        Whose extension; may be empty if they are only to be listed.
    until : str
        As for `More`.
    nothing : bool
        As for `More`.
    **units : float
        ``days``, ``hours`` and ``minutes`` after the due date, added up.

    Returns
    -------
    list of Extended
        What the students have now, by assignment.

    Raises
    ------
    CourseError
        If it is not clear who is to get how much, or as of `extend`.
    GradebookError
        If a gradebook cannot be used.
    """
    try:
        more = More(time=timedelta(**units), until=until, nothing=nothing)
    except OverflowError:
        more = More(time=timedelta.max)
    except ValueError as problem:
        remedy = "Give a number, or take the extension back with --none."
        raise CourseError("extend", f"--days, --hours or --minutes is none ({problem})", remedy) from None
    told = sum(map(bool, (more.time, more.until, more.nothing)))
    if told > 1 or (told and not (students and len(assignments) == 1)):
        remedy = "Name the assignment, --student, and one of --days/--hours/--minutes, --until and --none."
        raise CourseError("extend", "it is not clear who is to get how much", remedy)
    if told:
        return [extend(course, assignments[0], students, more)]
    return [extensions_of(course, name, students) for name in assignments]


def extensions_of(course: Course, assignment: str, students: Collection[str] = ()) -> Extended:
    """
    Return the extensions of an assignment.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    students : collection of str
        Whose; by default of all who have one.

    Returns
    -------
    Extended
        Sorted by student.

    Raises
    ------
    CourseError
        If a student is not known.
    GradebookError
        If the gradebook cannot be read, or has no such assignment.
    """
    with Gradebook(course.db_url) as gradebook:
        book = gradebook.extensions(assignment)
        known = book.all()
        _check(course, assignment, students, {*known, *book.students()})
        wanted = sorted(set(students)) or list(known)
        found = tuple(known.get(student, Extension(student=student, more=None)) for student in wanted)
        return Extended(assignment=assignment, due=book.due, extensions=found)


def extend(course: Course, assignment: str, students: Sequence[str], more: More) -> Extended:
    """
    Give students an extension in place of the one they have, and penalties that fit.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.
    students : sequence of str
        Their ids; who has not handed in yet gets it with the first submission.
    more : More
        How much.

    Returns
    -------
    Extended
        What they have now.

    Raises
    ------
    CourseError
        If a student is not known, the time cannot be used, or the course's
        late-penalty plug-in fails. Then nothing is changed.
    GradebookError
        If the gradebook cannot be used, or has no such assignment.
    """
    penalty = partial(course_penalty, course, course.settings())
    with Gradebook(course.db_url) as gradebook:
        book = gradebook.extensions(assignment)
        _check(course, assignment, students, {*book.all(), *book.students()})
        granted = book.grant(sorted(set(students)), more.after(book.due), penalty)
        return Extended(assignment=assignment, due=book.due, extensions=tuple(granted.values()))


def print_extended(extended: Extended) -> None:
    """
    Print extensions, one a line.

    Parameters
    ----------
    extended : Extended
        The extensions.
    """
    due = f"due {_utc(extended.due)}" if extended.due is not None else "without a due date"
    nobody = "" if extended.extensions else "; nobody has an extension"
    click.echo(f"{extended.assignment}: {due}{nobody}")
    for one in extended.extensions:
        click.echo(printable(f"  {one.student}  {', '.join(_parts(one, extended.due))}"))
    if extended.due is None and any(one.more is not None for one in extended.extensions):
        command = f"nbgrader db assignment add {extended.assignment} --duedate TIME"
        click.echo(f"  It has no effect until there is a due date: `{command}`.")


def in_words(more: timedelta) -> str:
    """Return a time in its units, such as "1 day 12 hours"."""
    rest, parts = abs(more.total_seconds()), []
    for name, size in UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count:.0f} {name}{'s' if count != 1 else ''}")
    return f"{'-' if more < timedelta() else ''}{' '.join(parts) or 'no time'}"


def _parts(one: Extension, due: datetime | None) -> Iterator[str]:
    yield in_words(one.more) if one.more is not None else "no extension"
    if one.more is not None and due is not None:
        yield f"until {_utc(due + one.more)}"
    if not one.submitted:
        yield "nothing graded yet"
    elif one.seconds_late:
        yield f"handed in {in_words(timedelta(seconds=one.seconds_late))} late"


def _check(course: Course, assignment: str, students: Collection[str], known: Collection[str]) -> None:
    """Refuse a student whom neither the gradebook nor a submission knows: it is probably a typing mistake."""
    for student in students:
        plain_name(student)
        # In a course without a roster nobody is known before handing in.
        if known and student not in known and not course.submitted(student, assignment).is_dir():
            remedy = f"{nearest(student, known)} Or add the student: `nbgrader db student add {student}`."
            raise CourseError(student, "is no student of this course", remedy)


def _time(words: str) -> datetime:
    try:
        return read_time(words)
    except (ValueError, ArithmeticError):
        what = f"there is no time {words[:40]!r}"
        raise CourseError("--until", what, "Write it as '2027-01-31 23:59 UTC'.") from None


def _utc(time: datetime | None) -> str | None:
    return None if time is None else f"{time.isoformat(sep=' ', timespec='minutes')} UTC"
