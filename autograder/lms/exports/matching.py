"""Which row of the instructor's own file is whose."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autograder.lms.model import SCHOOL_IDS, IdKind, Lms, Person
from autograder.lms.people import People, full_names
from autograder.terminal import some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from autograder.lms.model import Grade
    from autograder.lms.sheets import Sheet

UNKNOWN = "the course does not know them"
NO_ROW = "the file has no row for them"

_NAME = "the name"
NAMED = 12
"""Students that a note names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """
    Which columns of a file say who a row is about.

    Parameters
    ----------
    lms : Lms
        Whose file it is.
    ids : mapping of IdKind to int
        Columns of ids, from 0.
    email, name, first_name, last_name : int or None
        Columns of the rest, None where there is none.
    clean : callable, optional
        Takes off what the LMS writes around ids and names. By default spaces.
    """

    lms: Lms
    ids: Mapping[IdKind, int]
    email: int | None = None
    name: int | None = None
    first_name: int | None = None
    last_name: int | None = None
    clean: Callable[[str], str] = str.strip

    def person(self, sheet: Sheet, row: int) -> Person:
        """
        Return who a row is about.

        Parameters
        ----------
        sheet : Sheet
            The file.
        row : int
            Which row, from 0, which is the header.

        Returns
        -------
        Person
            As the LMS names them; ids that are empty are left out.
        """

        def cell(column: int | None) -> str:
            return self.clean(sheet.cell(row, column))

        ids = {kind: cell(column) for kind, column in self.ids.items()}
        return Person(
            lms=self.lms,
            first_name=cell(self.first_name),
            last_name=cell(self.last_name),
            name=cell(self.name),
            email=cell(self.email),
            ids={kind: value for kind, value in ids.items() if value},
            line=sheet.lines[row],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """
    Which row of a file is whose.

    Parameters
    ----------
    grades : mapping of int to Grade
        By row, the student it is about. No student has two rows.
    strangers : mapping of int to str
        By row why it is nobody's, a clause without a full stop.
    left : tuple of (Grade, str)
        Students without a row, each with a clause why.
    notes : tuple of str
        Who was matched by the name alone, and who is called otherwise in the file; a sentence each.
    """

    grades: Mapping[int, Grade]
    strangers: Mapping[int, str] = field(default_factory=dict)
    left: tuple[tuple[Grade, str], ...] = ()
    notes: tuple[str, ...] = ()


def match_rows(sheet: Sheet, who: Who, rows: Iterable[int], grades: Sequence[Grade]) -> Matches:
    """
    Find whose the rows of a file are.

    Parameters
    ----------
    sheet : Sheet
        The instructor's file.
    who : Who
        Which columns say who a row is about.
    rows : iterable of int
        The rows of students.
    grades : sequence of Grade
        One for each student.

    Returns
    -------
    Matches
        As of `match_people`.
    """
    return match_people({row: who.person(sheet, row) for row in rows}, grades)


def match_people(people: Mapping[int, Person], grades: Sequence[Grade]) -> Matches:
    """
    Find which student each person of an LMS is.

    The first of these that fits anybody decides: the ids by which this LMS
    knows a student, the student's id in the course, a login or the registrar's id
    in another LMS, the e-mail address, the whole name. Nobody is matched if it
    fits several, if another id or the address says otherwise, or if two people
    fit one student equally well. Another name is only told: people change theirs.

    Parameters
    ----------
    people : mapping of int to Person
        By row.
    grades : sequence of Grade
        One for each student.

    Returns
    -------
    Matches
        Every row and every student is in it once.
    """
    index = _Index(grades)
    found: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    strangers = {}
    by_name = set()
    for row, person in people.items():
        rank, student, reason = index.find(person)
        if student:
            found[student][rank].append(row)
            by_name |= {row} if reason == _NAME else set()
        else:
            strangers[row] = reason
    matched: dict[int, Grade] = {}
    contested = {}
    for student, by_rank in found.items():
        best, *others = (rows for _, rows in sorted(by_rank.items()))
        if len(best) == 1:
            matched[best[0]] = index.grades[student]
        else:
            lines = ", ".join(str(people[row].line or row) for row in best)
            contested[student] = f"several rows fit {student} (lines {lines})"
            strangers |= dict.fromkeys(best, contested[student])
        strangers |= {row: f"another row fits {student} better" for rows in others for row in rows}
    here = {grade.student for grade in matched.values()}
    left = [(grade, contested.get(grade.student, NO_ROW)) for grade in grades if grade.student not in here]
    notes = _notes(people, {row: index.known(grade.student) for row, grade in matched.items()}, by_name)
    return Matches(grades=matched, strangers=strangers, left=tuple(left), notes=tuple(notes))


def _notes(
    people: Mapping[int, Person], matched: Mapping[int, Sequence[Person]], by_name: Collection[int]
) -> Iterator[str]:
    """Say where a person should look: nobody's id and no address speaks for a name, or against one."""
    alone = [_place(matched[row][0].student, people[row], row) for row in matched if row in by_name]
    if alone:
        yield (
            f"Found by the name alone, as the course knows none of their ids there: {some(alone, NAMED)}. "
            "See that they are the same people."
        )
    others = [
        _place(f"{known[0].student} is {people[row].shown!r}", people[row], row)
        for row, known in matched.items()
        if row not in by_name and _is_called_otherwise(people[row], known)
    ]
    if others:
        yield (
            f"Found by an id or the address, but called otherwise in the file: {some(others, NAMED)}. "
            "See that they are the same people."
        )


def _place(what: str, person: Person, row: int) -> str:
    return f"{what} (line {person.line or row})"


def _is_called_otherwise(person: Person, known: Iterable[Person]) -> bool:
    """Return whether no name of a student has all words of a row's name, or the other way round."""
    theirs = [words for words in map(_words, full_names(person)) if words]
    ours = [words for one in known for words in map(_words, full_names(one)) if words]
    fits = any(one <= other or other <= one for one in theirs for other in ours)
    return bool(theirs and ours) and not fits


def _words(name: str) -> frozenset[str]:
    """Return the words of a name, without accents and case."""
    plain = unicodedata.normalize("NFKD", name)
    letters = "".join(char for char in plain if unicodedata.category(char) not in {"Mn", "Cf"})
    return frozenset(re.findall(r"\w+", letters.casefold()))


class _Index:
    """Students by all that a row may say of them."""

    def __init__(self, grades: Sequence[Grade]) -> None:
        self.grades = {grade.student: grade for grade in grades}
        everybody = [
            replace(person, student=grade.student)
            for grade in grades
            for person in (*grade.people, _own(grade))
        ]
        self.people = People(everybody)
        self._known: dict[str, list[Person]] = defaultdict(list)
        for person in everybody:
            self._known[person.student].append(person)
        self._by_email: dict[Callable[[str], str], dict[str, set[str]]] = {}
        for folded in (str, str.casefold):
            emails = self._by_email[folded] = defaultdict(set)
            for person in everybody:
                if person.email.strip():
                    emails[folded(person.email.strip())].add(person.student)
        self._emails: dict[str, set[str]] = defaultdict(set)
        for email, students in self._by_email[str.casefold].items():
            for student in students:
                self._emails[student].add(email)
        self._by_number: dict[str, set[str]] = defaultdict(set)
        for grade in grades:
            if grade.lms_user_id:
                self._by_number[grade.lms_user_id].add(grade.student)

    def known(self, student: str) -> Sequence[Person]:
        """Return a student as each LMS and the gradebook know them."""
        return self._known[student]

    def find(self, person: Person) -> tuple[int, str, str]:
        """Return how well a student fits, the student and what fits, or nothing and why nobody does."""
        for rank, (what, students) in enumerate(self._candidates(person)):
            if len(students) > 1:
                return rank, "", f"{what} fits several students: {', '.join(sorted(students))}"
            for student in students:
                other = self._otherwise(person, student, by_name=what == _NAME)
                if other:
                    return rank, "", f"{what} fits {student}, but {other}"
                return rank, student, what
        return 0, "", UNKNOWN

    def _candidates(self, person: Person) -> Iterator[tuple[str, set[str]]]:
        """Yield what is looked at, and the students that it fits, the surest first."""
        ids = {kind: value for kind, value in person.ids.items() if value}
        yield (
            "an id",
            {
                known.student
                for kind, value in ids.items()
                for known in self.people.by_id(kind, value)
                if self._has_id(known.student, person.lms, kind, value)
            },
        )
        general = {kind: value for kind, value in ids.items() if kind is not IdKind.PARTICIPANT}
        by_course = {value for kind, value in general.items() if kind in SCHOOL_IDS and value in self.grades}
        yield "an id", by_course.union(*(self._by_number.get(value, ()) for value in general.values()))
        elsewhere = (self.people.by_id(kind, value) for kind, value in ids.items() if kind in SCHOOL_IDS)
        yield "an id", {known.student for found in elsewhere for known in found}
        email = person.email.strip()
        yield "the e-mail address", self._by_email[str].get(email, set())
        yield "the e-mail address", self._by_email[str.casefold].get(email.casefold(), set())
        names = (self.people.by_name(name) for name in full_names(person))
        yield _NAME, {known.student for found in names for known in found}

    def _has_id(self, student: str, lms: Lms, kind: IdKind, value: str) -> bool:
        known = self.grades[student].person(lms)
        return known is not None and known.ids.get(kind) == value

    def _otherwise(self, person: Person, student: str, *, by_name: bool) -> str:
        """Return what speaks against a student whom something fits; empty if nothing does."""
        known = self.grades[student].person(person.lms)
        ids = known.ids if known is not None else {}
        for kind, value in person.ids.items():
            if value and ids.get(kind) and ids[kind] != value:
                return f"their id is {ids[kind]!r}"
        for kind, value in person.ids.items():
            if value and kind in SCHOOL_IDS and not ids.get(kind):
                owners = {one.student for one in self.people.by_id(kind, value)} | self._named(value)
                if owners and student not in owners:
                    return f"the id {value!r} is that of {min(owners)}"
        return self._other_address(person, student, by_name=by_name)

    def _named(self, value: str) -> set[str]:
        return {value} & self.grades.keys()

    def _other_address(self, person: Person, student: str, *, by_name: bool) -> str:
        """Return whether a row has an address that is not the student's, or is somebody else's."""
        email = person.email.strip().casefold()
        emails = self._emails[student]
        if not email or email in emails:
            return ""
        # Where a login stands for the address, it need not be one that people write to.
        is_login = not by_name and any(email == value.casefold() for value in person.ids.values())
        owners = self._by_email[str.casefold].get(email)
        if owners and (is_login or not emails):
            return f"the e-mail address {person.email.strip()!r} is that of {min(owners)}"
        if emails and not is_login:
            return f"their e-mail address is {min(emails)!r} (if that has changed, collect with --roster)"
        return ""


def _own(grade: Grade) -> Person:
    """Return the student as the gradebook names them; that is no LMS, and has no ids."""
    return Person(lms=Lms.PLAIN, first_name=grade.first_name, last_name=grade.last_name, email=grade.email)
