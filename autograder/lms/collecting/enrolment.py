"""
From the people of rosters to the students of a course: who is who, and who is new.

An id that was stored before decides. Without one, the course's own ids, the
LMS's number in the gradebook and addresses speak; if they name two students, or
two people name one, nobody guesses and nothing is written for them.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from autograder.course.layout import plain_name
from autograder.errors import CourseError
from autograder.lms.collecting.merging import merge
from autograder.lms.downloads.model import Left
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.people import fold, full_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from autograder.lms.model import Roster

MAX_ID = 128
"""Letters of an id: as many as nbgrader's gradebook has room for on every database."""

_IDS = (IdKind.LOGIN, IdKind.SIS, IdKind.USER)
_STORED = (*_IDS, IdKind.LTI)
_ROOM = "add them to the gradebook with an id of your own (`nbgrader db student add ID --email ADDRESS`)"


class StudentId(StrEnum):
    """What becomes the id of a new student in the course."""

    LOGIN = "login"
    SIS = "sis"
    USER = "user"
    EMAIL = "email"

    def of(self, person: Person) -> str:
        """Return it; empty if the LMS does not tell it."""
        return person.email if self is StudentId.EMAIL else person.ids.get(IdKind(self.value), "")


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
    """

    people: tuple[Person, ...] = ()
    unknown: tuple[Person, ...] = ()
    new: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()


@dataclass(slots=True)
class _One:
    """A person of the rosters, and what was found out."""

    person: Person
    where: str
    student: str = ""
    is_new: bool = False
    problem: str = ""


@dataclass(slots=True)
class _Course:
    """The students that there are, to be found by what is known of them."""

    students: dict[str, list[Person]] = field(default_factory=lambda: defaultdict(list))
    by_id: dict[tuple[IdKind, str], set[tuple[Lms, str]]] = field(default_factory=lambda: defaultdict(set))
    by_email: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    by_name: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, person: Person) -> None:
        self.students[person.student].append(person)
        for kind, value in person.ids.items():
            self.by_id[kind, value].add((person.lms, person.student))
        if person.email:
            self.by_email[person.email.casefold()].add(person.student)
        for way in full_names(person):
            self.by_name[fold(way)].add(person.student)

    def known_to(self, person: Person) -> set[str]:
        """Return whom the LMS of a person knew by one of the person's ids before."""
        ids = (self.by_id.get((kind, person.ids[kind]), set()) for kind in _STORED if person.ids.get(kind))
        return {student for found in ids for lms, student in found if lms == person.lms}

    def named(self, person: Person, kinds: Iterable[StudentId]) -> set[str]:
        """Return whom the ids of a person name that mean the same everywhere."""
        found = {kind.of(person) for kind in kinds} & self.students.keys()
        for kind in (IdKind.LOGIN, IdKind.SIS):
            if value := person.ids.get(kind):
                found |= {student for _, student in self.by_id.get((kind, value), set())}
        if number := person.ids.get(IdKind.USER):
            # nbgrader's one column for an id of an LMS.
            known = self.by_id.get((IdKind.USER, number), set())
            found |= {student for lms, student in known if lms == Lms.PLAIN}
        return found


def enrol(
    known: Sequence[Person], rosters: Sequence[Roster], student_id: StudentId | None = None
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

    Returns
    -------
    Enrolment
        Everybody of the rosters is in it once.
    """
    course = _Course()
    for person in known:
        course.add(person)
    there = frozenset(course.students)
    everybody: list[_One] = []
    for people in merge(rosters).values():
        batch = [_One(one.person, one.where) for one in people]
        for one in batch:
            _find(one, course, batch, student_id)
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
    )


# ------------------------------------------------------------------ who is who


def _find(one: _One, course: _Course, batch: Sequence[_One], student_id: StudentId | None) -> None:
    """Find the student whom a person's ids name."""
    person = one.person
    if person.student:
        # The roster says so itself.
        one.student = person.student if person.student in course.students else ""
        return
    found = course.known_to(person)
    is_known = bool(found)
    if not found:
        found = course.named(person, StudentId if student_id is None else (student_id,))
        found |= _by_address(person, course, batch)
        # Where a roster tells nothing but names, a name has to do that nobody else has.
        found = found or _by_name(person, course, batch)
    one.problem = _conflict(person, found, course, is_known=is_known)
    if len(found) == 1:
        one.student = next(iter(found))


def _by_address(person: Person, course: _Course, batch: Sequence[_One]) -> set[str]:
    """Return who has the address; nobody if two people's differ by large letters alone."""
    address = person.email.casefold()
    if not address or sum(one.person.email.casefold() == address for one in batch) > 1:
        return set()
    return course.by_email.get(address, set())


def _by_name(person: Person, course: _Course, batch: Sequence[_One]) -> set[str]:
    if person.email or any(kind in person.ids for kind in _STORED):
        return set()
    ways = {fold(way) for way in full_names(person)}
    if sum(bool(ways & {fold(way) for way in full_names(one.person)}) for one in batch) > 1:
        return set()
    found = {student for way in ways for student in course.by_name.get(way, set())}
    return found if len(found) == 1 else set()


def _conflict(person: Person, found: set[str], course: _Course, *, is_known: bool) -> str:
    """Return why a person cannot be the student who was found; empty if nothing speaks against it."""
    if len(found) > 1:
        who = " and ".join(sorted(found))
        remedy = "Correct what the gradebook has of them, or say with --student-id what the course's ids are."
        return f"What is known of this person names {len(found)} students: {who}. {remedy}"
    for student in found:
        for other in course.students[student]:
            mine, theirs = person.ids.get(IdKind.USER), other.ids.get(IdKind.USER)
            if other.lms == person.lms and mine and theirs and mine != theirs:
                what = (
                    f"{person.lms.shown} knew the student {student} by another number ({theirs}, not {mine})"
                )
                return f"{what}. See who it is, and correct the gradebook or the roster."
            if not is_known and _is_another(person, other):
                what = f"The course knows the student {student} by another name and another address"
                remedy = "See who it is; --student-id says what the course's ids are."
                return f"{what} ({other.shown}, {other.email}). {remedy}"
    return ""


def _is_another(person: Person, other: Person) -> bool:
    names, others = ({fold(way) for way in full_names(one)} for one in (person, other))
    has_another_name = bool(names and others) and not names & others
    addresses = person.email.casefold(), other.email.casefold()
    return has_another_name and all(addresses) and addresses[0] != addresses[1]


# --------------------------------------------------------------------- the new


def _name_new(batch: Sequence[_One], course: _Course, student_id: StudentId | None) -> None:
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
