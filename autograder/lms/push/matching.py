"""
Who in an LMS is which student: by ids and addresses alone, never by a name.

A file shows a person's row to whoever uploads it; a push shows nothing before
it is too late. So a name that only one person has is not enough here.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.lms.model import SCHOOL_IDS, IdKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from autograder.lms.model import Grade, Person

NOBODY = "nobody there has one of their ids or their e-mail address"

_OF_THE_LMS = (IdKind.USER, IdKind.LTI)
"""Ids that the gradebook's ``lms_user_id`` may be."""
_OWN = (IdKind.USER, IdKind.SIS, IdKind.LOGIN)
"""Ids of which a person has one in all of an LMS; in LTI and in one assignment they are called otherwise."""
_CALLED = {IdKind.SIS: "id of the school", IdKind.LOGIN: "login"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """
    Who in an LMS is which student.

    Parameters
    ----------
    people : mapping of str to Person
        By the student's id in this course, as the LMS knows them. Nobody is there twice.
    reasons : mapping of str to str
        By student why nobody there is them, a clause without a full stop.
    """

    people: Mapping[str, Person] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


def match_members(people: Sequence[Person], grades: Iterable[Grade]) -> Members:
    """
    Find who in an LMS is which student.

    The first of these that fits anybody decides: the ids by which this LMS knows
    the student, and the gradebook's ``lms_user_id``; the student's id in this
    course, as a login or a registrar's id; these two as another LMS knows them;
    the e-mail address, first letter for letter.

    Parameters
    ----------
    people : sequence of Person
        Those whom the LMS may give a grade, all of one LMS.
    grades : iterable of Grade
        One for each student.

    Returns
    -------
    Members
        Nobody is matched if several fit, if one person fits two students, or if this LMS knows
        the student by another id or e-mail address than whoever fits has.
    """
    index = _Index(people)
    found: dict[str, int] = {}
    reasons: dict[str, str] = {}
    for grade in grades:
        at, reason = index.find(grade)
        if at is None:
            reasons[grade.student] = reason
        else:
            found[grade.student] = at
    claims = defaultdict(list)
    for student, at in found.items():
        claims[at].append(student)
    for at, students in claims.items():
        if len(students) > 1:
            what = f"{people[at].shown} fits several students: {', '.join(sorted(students))}"
            reasons |= dict.fromkeys(students, what)
    return Members(
        people={student: people[at] for student, at in found.items() if student not in reasons},
        reasons=reasons,
    )


class _Index:
    """People of an LMS by all that may be known of a student."""

    def __init__(self, people: Sequence[Person]) -> None:
        self._people = people
        self._by_id: dict[tuple[IdKind, str], set[int]] = defaultdict(set)
        self._by_email: dict[str, set[int]] = defaultdict(set)
        self._by_folded: dict[str, set[int]] = defaultdict(set)
        for at, person in enumerate(people):
            for kind, value in person.ids.items():
                self._by_id[kind, value].add(at)
            self._by_email[person.email.strip()].add(at)
            self._by_folded[person.email.strip().casefold()].add(at)

    def find(self, grade: Grade) -> tuple[int | None, str]:
        """Return where a student is among the people, or None and why nowhere."""
        for what, found in self._candidates(grade):
            if len(found) > 1:
                names = sorted(self._people[at].shown for at in found)
                return None, f"{what} fits several people there: {', '.join(names)}"
            for at in found:
                # Numbers of another server, and of last year's course, fit people of this one.
                if other := self._contradiction(grade, self._people[at]):
                    return None, f"{what} fits {self._people[at].shown}, but {other}"
                return at, ""
        return None, NOBODY

    def _candidates(self, grade: Grade) -> Iterator[tuple[str, set[int]]]:
        """Yield what is looked at, and whom it fits, the surest first."""
        lms = {person.lms for person in self._people}
        own = [
            (kind, value)
            for person in grade.people
            for kind, value in person.ids.items()
            if person.lms in lms or kind is IdKind.LTI
        ]
        numbers = [(kind, grade.lms_user_id) for kind in _OF_THE_LMS]
        yield "an id", self._with([*own, *numbers])
        yield "the id in this course", self._with((kind, grade.student) for kind in SCHOOL_IDS)
        elsewhere = ((kind, person.ids.get(kind, "")) for person in grade.people for kind in SCHOOL_IDS)
        yield "an id in another LMS", self._with(elsewhere)
        emails = {email.strip() for email in (grade.email, *(person.email for person in grade.people))} - {""}
        empty: set[int] = set()
        yield "the e-mail address", empty.union(*(self._by_email.get(one, empty) for one in emails))
        folded = {one.casefold() for one in emails}
        yield "the e-mail address", empty.union(*(self._by_folded.get(one, empty) for one in folded))

    def _with(self, ids: Iterable[tuple[IdKind, str]]) -> set[int]:
        return {at for kind, value in ids if value for at in self._by_id.get((kind, value), ())}

    @staticmethod
    def _contradiction(grade: Grade, person: Person) -> str:
        """Return what the same LMS knows of a student otherwise, a clause; empty if there is nothing."""
        known = grade.person(person.lms)
        if known is None:
            return ""
        said = {_CALLED.get(kind, "id"): (known.ids.get(kind, ""), person.ids.get(kind, "")) for kind in _OWN}
        said["e-mail address"] = (known.email, person.email)
        for called, (ours, theirs) in said.items():
            if ours and theirs and ours.strip().casefold() != theirs.strip().casefold():
                return f"their {called} there is {theirs!r}, and {ours!r} in the roster that was collected"
        return ""
