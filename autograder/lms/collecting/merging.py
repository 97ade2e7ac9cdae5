"""People of several rosters of one LMS: those that are one are made one."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autograder.lms.people import fold, full_names

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from autograder.lms.model import Lms, Person, Roster


@dataclass(slots=True, eq=False)
class Known:
    """
    Somebody of one or several rosters of an LMS.

    Parameters
    ----------
    person : Person
        All that the rosters tell together.
    where : str
        The first roster that tells of them, and the line.
    """

    person: Person
    where: str


@dataclass(slots=True)
class _Index:
    """Those of earlier rosters, to be found by what tells people apart."""

    marks: dict[Hashable, list[Known]] = field(default_factory=lambda: defaultdict(list))

    def add(self, one: Known) -> None:
        for mark in (*_marks(one.person), *_names(one.person)):
            if one not in self.marks[mark]:
                self.marks[mark].append(one)

    def find(self, person: Person) -> Known | None:
        """Return the one whom a person of another roster is; None if nobody is, or nobody can tell."""
        found = {id(one): one for mark in _marks(person) for one in self.marks.get(mark, ())}
        if not found:
            # A whole name tells as much as the two rosters let it: in each it must be one person's.
            found = {id(one): one for name in _names(person) for one in self.marks.get(name, ())}
        fitting = [one for one in found.values() if not _contradict(one.person, person)]
        return fitting[0] if len(found) == len(fitting) == 1 else None


def merge(rosters: Iterable[Roster]) -> dict[Lms, list[Known]]:
    """
    Return the people of some rosters.

    Parameters
    ----------
    rosters : iterable of Roster
        Any number of each LMS's.

    Returns
    -------
    dict of Lms to list of Known
        Everybody once. Of what two rosters tell of one person, the first counts.
    """
    known: dict[Lms, list[Known]] = defaultdict(list)
    indexes: dict[Lms, _Index] = defaultdict(_Index)
    for roster in rosters:
        index = indexes[roster.lms]
        # People of one roster are never one.
        there = [(person, index.find(person)) for person in roster.people]
        taken = Counter(one for _, one in there)
        for person, one in there:
            if one is None or taken[one] > 1:
                line = f", line {person.line}" if person.line else ""
                one = Known(person, f"{roster.where}{line}")  # noqa: PLW2901 - it is somebody new
                known[roster.lms].append(one)
            else:
                one.person = _joined(one.person, person)
            index.add(one)
    return known


def _marks(person: Person) -> Iterator[Hashable]:
    yield from ((kind, value) for kind, value in person.ids.items() if value)
    if person.student:
        yield "student", person.student
    if person.email:
        yield "email", person.email


def _names(person: Person) -> Iterator[Hashable]:
    return (("name", way) for way in {fold(way) for way in full_names(person)})


def _contradict(one: Person, other: Person) -> bool:
    """Return whether an id of two people is another, so that they are two."""
    ids = any(one.ids[kind] != other.ids[kind] for kind in one.ids.keys() & other.ids.keys())
    return ids or bool(one.student and other.student and one.student != other.student)


def _joined(one: Person, other: Person) -> Person:
    has_names = one.first_name or one.last_name
    return replace(
        one,
        first_name=one.first_name if has_names else other.first_name,
        last_name=one.last_name if has_names else other.last_name,
        name=one.name or other.name,
        email=one.email or other.email,
        ids={**other.ids, **one.ids},
        sections=tuple(dict.fromkeys((*one.sections, *other.sections))),
        student=one.student or other.student,
        submitted_at=one.submitted_at or other.submitted_at,
    )
