"""
From the people of rosters to the students of a course: who is who, and who is new.

An id that was stored before decides. Without one, the course's own ids, the
LMS's number in the gradebook and addresses speak; if they name two students, or
two people name one, nobody guesses and nothing is written for them.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autograder.course.layout import plain_name
from autograder.errors import CourseError
from autograder.lms.collecting.merging import merge
from autograder.lms.collecting.students import (
    STORED,
    StudentId,
    Students,
    by_chance,
    conflict,
    has_another_name,
)
from autograder.lms.downloads.model import Left
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.people import fold, full_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from autograder.lms.downloads.model import Attempt
    from autograder.lms.model import Roster

MAX_ID = 128
"""Letters of an id: as many as nbgrader's gradebook has room for on every database."""

_ROOM = "add them to the gradebook with an id of your own (`nbgrader db student add ID --email ADDRESS`)"


_IN_TURN = (StudentId.LOGIN, StudentId.SIS, StudentId.USER)


@dataclass(frozen=True, slots=True)
class Enrolment:
    """
    Who of some rosters is which student.

    Parameters
    ----------
    people : tuple of Person
        Those of whom it is known, with their ids in the course.
    unknown : tuple of Person
        Those of whom it is not, without one.
    new : tuple of str
        Ids of students whom the course does not have yet; sorted.
    left : tuple of Left
        Why somebody is unknown, and what to do; and what the rosters left out.
    replaced : tuple of (Lms, str)
        Which numbers of an LMS are others than those that were stored.
    """

    people: tuple[Person, ...] = ()
    unknown: tuple[Person, ...] = ()
    new: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()
    replaced: tuple[tuple[Lms, str], ...] = ()


@dataclass(slots=True)
class _One:
    """A person of the rosters, and what was found out."""

    person: Person
    where: str
    student: str = ""
    is_new: bool = False
    problem: str = ""
    replaced: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a person has said."""

    student_id: StudentId | None
    force: bool

    @property
    def kinds(self) -> tuple[StudentId, ...]:
        """What the ids of the course may be."""
        return tuple(StudentId) if self.student_id is None else (self.student_id,)


def enrol(
    known: Sequence[Person],
    rosters: Sequence[Roster],
    student_id: StudentId | None = None,
    *,
    force: bool = False,
) -> Enrolment:
    """
    Return who of some rosters is which student of a course.

    Parameters
    ----------
    known : sequence of Person
        The students of the course, as the gradebook and each LMS know them.
    rosters : sequence of Roster
        The rosters.
    student_id : StudentId, optional
        What the ids of the course are. By default any of an LMS's ids may be, and
        new students get the login, else the registrar's id, else the LMS's number.
    force : bool
        True if an LMS's number of a student may be another than the one that was stored.

    Returns
    -------
    Enrolment
        Everybody of the rosters is in it once.
    """
    course, asked = Students(), _Asked(student_id, force)
    for person in known:
        course.add(person)
    there = frozenset(course.students)
    everybody: list[_One] = []
    for people in merge(rosters).values():
        batch = [_One(one.person, one.where) for one in people]
        for one in batch:
            _find(one, course, batch, asked)
        _name_new(batch, course, student_id)
        _part(batch)
        for one in batch:
            if not one.problem:
                course.add(replace(one.person, student=one.student))
        everybody += batch
    sure = [one for one in everybody if not one.problem]
    unsure = [one for one in everybody if one.problem]
    told = (Left(name=f"{one.person.shown} ({one.where})", reason=one.problem) for one in unsure)
    notes = ((roster.where, note) for roster in rosters for note in roster.notes)
    return Enrolment(
        people=tuple(replace(one.person, student=one.student) for one in sure),
        unknown=tuple(replace(one.person, student="") for one in unsure),
        new=tuple(sorted({one.student for one in sure} - there)),
        left=(*told, *(Left(name=where, reason=note, harmless=True) for where, note in notes)),
        replaced=tuple((one.person.lms, one.replaced) for one in sure if one.replaced),
    )


def kept(enrolment: Enrolment, attempts: Collection[Attempt]) -> tuple[Enrolment, tuple[str, ...]]:
    """
    Return who of some rosters is to be remembered.

    Parameters
    ----------
    enrolment : Enrolment
        Who is which student.
    attempts : collection of Attempt
        What was handed in, with its owners.

    Returns
    -------
    kept : Enrolment
        Without everybody of an LMS in whose rosters nobody has handed in, if anybody has: they are of
        another course or another site, and their numbers would keep the right ones out.
    told : tuple of str
        What to tell of that, and of numbers that were replaced.
    """
    students = {one.person.student for one in attempts if one.person is not None}
    known = {one.lms for one in enrolment.people}
    fitting = {one.lms for one in enrolment.people if one.student in students} if attempts else known
    people = tuple(one for one in enrolment.people if one.lms in fitting)
    names = {one.student for one in people}
    new = tuple(one for one in enrolment.new if one in names)
    replaced = tuple(told for lms, told in enrolment.replaced if lms in fitting)
    words = "nobody in it has handed in here, so nobody of it was added. Is it of another course?"
    lost = (f"the roster of {lms.shown}: {words}" for lms in sorted(known - fitting))
    return replace(enrolment, people=people, new=new), (*replaced, *lost)


# ------------------------------------------------------------------ who is who


def _find(one: _One, course: Students, batch: Sequence[_One], asked: _Asked) -> None:
    """Find the student whom a person's ids name."""
    person = one.person
    if person.student:
        # The roster says so itself.
        one.student = person.student if person.student in course.students else ""
        return
    found = course.known_to(person)
    is_known = bool(found)
    numbered: set[str] = set()
    if not found:
        found = course.named(person, asked.kinds) | _by_address(person, course, batch)
        numbered = course.numbered(person, asked.kinds) - found if asked.student_id is None else set()
        found |= course.numbered(person, asked.kinds)
        # Where a roster tells nothing but names, a name has to do that nobody else has.
        found = found or _by_name(person, course, batch)
    one.problem = conflict(person, found, course, is_known=is_known)
    if len(found) == 1:
        one.student = next(iter(found))
        one.problem = one.problem or by_chance(person, numbered, course)
        one.problem = one.problem or _other_number(one, course, force=asked.force)


def _by_address(person: Person, course: Students, batch: Sequence[_One]) -> set[str]:
    """Return who has the address; nobody if two people's differ by large letters alone."""
    address = person.email.casefold()
    if not address or sum(one.person.email.casefold() == address for one in batch) > 1:
        return set()
    return course.by_email.get(address, set())


def _by_name(person: Person, course: Students, batch: Sequence[_One]) -> set[str]:
    if person.email or any(kind in person.ids for kind in STORED):
        return set()
    ways = {fold(way) for way in full_names(person)}
    if sum(bool(ways & {fold(way) for way in full_names(one.person)}) for one in batch) > 1:
        return set()
    found = {student for way in ways for student in course.by_name.get(way, set())}
    return found if len(found) == 1 else set()


def _other_number(one: _One, course: Students, *, force: bool) -> str:
    """Return how the LMS knew a student by another number; told as replaced if that is wanted."""
    lms, mine = one.person.lms, one.person.ids.get(IdKind.USER)
    known = course.students[one.student]
    for other in known:
        theirs = other.ids.get(IdKind.USER)
        if other.lms != lms or not (mine and theirs) or mine == theirs:
            continue
        # A login may have gone to somebody else, and the name tells.
        if not force or has_another_name(one.person, known):
            what = f"{lms.shown} knew the student {one.student} by another number ({theirs}, not {mine})"
            remedy = "See who it is. If the name is the student's and the roster is right: --force."
            return f"{what}. {remedy}"
        one.replaced = f"{lms.shown}'s number of {one.student} is {mine} now, not {theirs}"
    return ""


# --------------------------------------------------------------------- the new


def _name_new(batch: Sequence[_One], course: Students, student_id: StudentId | None) -> None:
    """Give new students an id."""
    kinds = _IN_TURN if student_id is None else (student_id,)
    for one in batch:
        if not (one.student or one.problem):
            ids = (one.person.student, *(kind.of(one.person) for kind in kinds))
            one.student = next((text for text in ids if text), "")
            one.problem = _no_id(one, kinds)
            one.is_new = not one.problem
    alike: dict[str, set[str]] = defaultdict(set)
    for student in (*course.students, *(one.student for one in batch if one.is_new)):
        alike[_as_disk(student)].add(student)
    for one in batch:
        others = alike[_as_disk(one.student)] - {one.student} if one.is_new else set()
        if others:
            what = f"The id {one.student} differs from {min(others)} by large letters or accents alone"
            remedy = f"Choose another with --student-id, or {_ROOM}."
            one.problem = f"{what}; some disks take the two for one. {remedy}"


def _no_id(one: _One, kinds: Iterable[StudentId]) -> str:
    """Return why a new student cannot have an id; empty if it can."""
    remedy = f"Choose another with --student-id, or {_ROOM}."
    if not one.student:
        wanted = ", ".join(kind.value for kind in kinds)
        what = f"The roster tells no id for a folder ({wanted})"
        return f"{what}. Name one that does as well, or: {remedy[0].lower()}{remedy[1:]}"
    try:
        plain_name(one.student)
        is_fit = len(one.student) <= MAX_ID and one.student == one.student.strip()
    except CourseError:
        is_fit = False
    if is_fit and one.student.isprintable():
        return ""
    return f"{one.student[:MAX_ID]!r} cannot be the name of a folder. {remedy}"


def _as_disk(student: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", student).casefold())


def _part(batch: Sequence[_One]) -> None:
    """Take a student away from people of one LMS who would both be that student."""
    by_student: dict[str, list[_One]] = defaultdict(list)
    for one in batch:
        if one.student and not one.problem:
            by_student[one.student].append(one)
    for student, same in by_student.items():
        for one in same if len(same) > 1 else ():
            others = " and ".join(other.person.shown for other in same if other is not one)
            remedy = "Correct the roster, or say with --student-id what the course's ids are."
            one.problem = f"It seems to be the student {student}, as does {others}. {remedy}"


def matching(known: Iterable[Person], enrolment: Enrolment, lms: Lms) -> Iterator[Person]:
    """
    Yield whom a download of an LMS may name.

    Parameters
    ----------
    known : iterable of Person
        The students of the course, as the gradebook and each LMS know them.
    enrolment : Enrolment
        Who came with rosters.
    lms : Lms
        The download's.

    Yields
    ------
    Person
        Of another LMS without the numbers that only that one gives.
    """
    own = {IdKind.USER, IdKind.PARTICIPANT, IdKind.LTI}
    for person in (*known, *enrolment.people, *enrolment.unknown):
        if person.lms in {lms, Lms.PLAIN} or lms in {Lms.PLAIN, Lms.NBGRADER}:
            yield person
        else:
            yield replace(person, ids={kind: one for kind, one in person.ids.items() if kind not in own})
