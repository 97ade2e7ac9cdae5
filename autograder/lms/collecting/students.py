"""The students that a course has, found by what is known of somebody, and what speaks against it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from autograder.lms.model import SCHOOL_IDS, IdKind, Lms, Person
from autograder.lms.people import fold, full_names

if TYPE_CHECKING:
    from collections.abc import Iterable

STORED = (*SCHOOL_IDS, IdKind.USER, IdKind.LTI)
"""Ids that the gradebook remembers."""


class StudentId(StrEnum):
    """What becomes the id of a new student in the course."""

    LOGIN = "login"
    SIS = "sis"
    USER = "user"
    EMAIL = "email"

    def of(self, person: Person) -> str:
        """Return it; empty if the LMS does not tell it."""
        return person.email if self is StudentId.EMAIL else person.ids.get(IdKind(self.value), "")


@dataclass(slots=True)
class Students:
    """The students that there are, to be found by what is known of them."""

    students: dict[str, list[Person]] = field(default_factory=lambda: defaultdict(list))
    by_id: dict[tuple[IdKind, str], set[tuple[Lms, str]]] = field(default_factory=lambda: defaultdict(set))
    by_email: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    by_name: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, person: Person) -> None:
        """Add a student, as the gradebook or an LMS knows them."""
        self.students[person.student].append(person)
        for kind, value in person.ids.items():
            self.by_id[kind, value].add((person.lms, person.student))
        if person.email:
            self.by_email[person.email.casefold()].add(person.student)
        for way in full_names(person):
            self.by_name[fold(way)].add(person.student)

    def known_to(self, person: Person) -> set[str]:
        """Return whom the LMS of a person knew by one of the person's ids before."""
        ids = (self.by_id.get((kind, person.ids[kind]), set()) for kind in STORED if person.ids.get(kind))
        return {student for found in ids for lms, student in found if lms == person.lms}

    def named(self, person: Person, kinds: Iterable[StudentId]) -> set[str]:
        """Return whom the ids of a person name that mean the same everywhere."""
        found = {kind.of(person) for kind in kinds if kind is not StudentId.USER} & self.students.keys()
        for kind in SCHOOL_IDS:
            if value := person.ids.get(kind):
                found |= {student for _, student in self.by_id.get((kind, value), set())}
        return found

    def numbered(self, person: Person, kinds: Iterable[StudentId]) -> set[str]:
        """Return whom the number of a person names, which may be anything to anybody else."""
        number = person.ids.get(IdKind.USER, "")
        found = {number} & self.students.keys() if StudentId.USER in kinds else set()
        # nbgrader's one column for an id of an LMS.
        known = self.by_id.get((IdKind.USER, number), set()) if number else set()
        return found | {student for lms, student in known if lms == Lms.PLAIN}


def conflict(person: Person, found: set[str], course: Students, *, is_known: bool) -> str:
    """Return why a person cannot be the student who was found; empty if nothing speaks against it."""
    if len(found) > 1:
        who = " and ".join(sorted(found))
        remedy = "Correct what the gradebook has of them, or say with --student-id what the course's ids are."
        return f"What is known of this person names {len(found)} students: {who}. {remedy}"
    for student in found:
        for other in course.students[student]:
            if not is_known and _is_another(person, other):
                what = f"The course knows the student {student} by another name and another address"
                remedy = "See who it is; --student-id says what the course's ids are."
                return f"{what} ({other.shown}, {other.email}). {remedy}"
    return ""


def by_chance(person: Person, numbered: set[str], course: Students) -> str:
    """Return why a number alone makes nobody a student of another name; empty if the names may be one's."""
    for student in numbered:
        known = [other for other in course.students[student] if full_names(other)]
        if has_another_name(person, known):
            what = f"Nothing but a number of {person.lms.shown}'s names the student {student}"
            remedy = "--student-id says what the course's ids are: user, if they are these numbers."
            return f"{what}, who is called {known[0].shown} in the course. {remedy}"
    return ""


def has_another_name(person: Person, known: Iterable[Person]) -> bool:
    """
    Return whether a person is called otherwise than a student, as far as both have names.

    Parameters
    ----------
    person : Person
        The person.
    known : iterable of Person
        The student, as the gradebook and each LMS knows them.

    Returns
    -------
    bool
        False for the same words in any order, and for one with some more.
    """
    mine, theirs = _words([person]), _words(known)
    return bool(mine and theirs) and not any(one <= other or other <= one for one in mine for other in theirs)


def _words(people: Iterable[Person]) -> list[set[str]]:
    ways = (way for one in people for way in full_names(one))
    return [words for way in ways if (words := set(fold(way.replace(",", " ")).split()))]


def _is_another(person: Person, other: Person) -> bool:
    names, others = ({fold(way) for way in full_names(one)} for one in (person, other))
    has_another_name = bool(names and others) and not names & others
    addresses = person.email.casefold(), other.email.casefold()
    return has_another_name and all(addresses) and addresses[0] != addresses[1]
