"""Finding a person by an id or, where nothing else is there, by a name that only one of them has."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from autograder.lms.model import IdKind, Person


def fold(name: str) -> str:
    """
    Return what is left of a name when case, kinds of spaces and ways of writing an accent do not count.

    Parameters
    ----------
    name : str
        A name, as anybody writes it.

    Returns
    -------
    str
        Accents stay: Müller is not Muller.
    """
    plain = unicodedata.normalize("NFKC", name)
    shown = "".join(" " if char.isspace() else char for char in plain if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFC", " ".join(shown.split()).casefold())


def full_names(person: Person) -> tuple[str, ...]:
    """
    Return all ways in which an LMS may write a person's whole name.

    Parameters
    ----------
    person : Person
        The person.

    Returns
    -------
    tuple of str
        As given, "First Last", "Last First" and "Last, First", without repeats.
    """
    first, last = person.first_name.strip(), person.last_name.strip()
    ways = [person.name.strip()]
    if not (first and last) and "," in person.name:
        last, _, first = (part.strip() for part in person.name.partition(","))
    if first and last:
        ways += [f"{first} {last}", f"{last} {first}", f"{last}, {first}"]
    else:
        ways += [first or last]
    return tuple(dict.fromkeys(way for way in ways if way))


class People:
    """
    The people of a course, to be found by what a download tells of them.

    Parameters
    ----------
    people : iterable of Person
        All of them. The same student may be there several times, as each LMS knows them.
    """

    def __init__(self, people: Iterable[Person]) -> None:
        self.everybody = tuple(people)
        self._by_id: dict[tuple[IdKind, str], list[Person]] = defaultdict(list)
        self._by_student: dict[str, list[Person]] = defaultdict(list)
        self._by_address: dict[str, list[Person]] = defaultdict(list)
        for person in self.everybody:
            self._by_student[_composed(person.student)].append(person)
            self._by_address[person.email.casefold()].append(person)
            for kind, value in person.ids.items():
                self._by_id[kind, value].append(person)
        self._by_name: dict[Callable[[str], str], dict[str, list[Person]]] = {}

    def of(self, person: Person) -> tuple[Person, ...]:
        """
        Return a student as each LMS knows them.

        Parameters
        ----------
        person : Person
            The student, as one LMS knows them.

        Returns
        -------
        tuple of Person
            The person alone, if nobody knows who that is in the course.
        """
        known = self._by_student.get(_composed(person.student), ())
        return tuple(one for one in known if one.student == person.student) if person.student else (person,)

    def by_student(self, student: str) -> tuple[Person, ...]:
        """
        Return who has an id in the course.

        Parameters
        ----------
        student : str
            The id, however its accents are written.

        Returns
        -------
        tuple of Person
            One for each student.
        """
        return _one_each(self._by_student.get(_composed(student), ())) if student else ()

    def by_address(self, email: str) -> tuple[Person, ...]:
        """
        Return who has an address.

        Parameters
        ----------
        email : str
            The address, in large or small letters.

        Returns
        -------
        tuple of Person
            One for each student.
        """
        return _one_each(self._by_address.get(email.casefold(), ())) if email else ()

    def ids(self, kind: IdKind) -> Collection[str]:
        """Return all ids of a kind."""
        return {value for its_kind, value in self._by_id if its_kind == kind}

    def by_id(self, kind: IdKind, value: str) -> tuple[Person, ...]:
        """
        Return who has an id.

        Parameters
        ----------
        kind : IdKind
            Which kind of id.
        value : str
            The id, letter for letter.

        Returns
        -------
        tuple of Person
            One for each student; several only if students share it.
        """
        return _one_each(self._by_id.get((kind, value), ()))

    def by_name(self, name: str, folded: Callable[[str], str] = fold) -> tuple[Person, ...]:
        """
        Return who has a name.

        Parameters
        ----------
        name : str
            The whole name, in any of the ways of `full_names`.
        folded : callable, optional
            What the LMS does to names: those that it makes equal are equal. By default `fold`.

        Returns
        -------
        tuple of Person
            One for each student; several if it is nobody's alone.
        """
        if folded not in self._by_name:
            known = self._by_name[folded] = defaultdict(list)
            for person in self.everybody:
                for way in {folded(way) for way in full_names(person)}:
                    known[way].append(person)
        return _one_each(self._by_name[folded].get(folded(name), ()))


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _one_each(people: Iterable[Person]) -> tuple[Person, ...]:
    """Leave out a student whom another LMS knows too; people without an id in the course are all kept."""
    found: dict[object, Person] = {}
    for person in people:
        found.setdefault(person.student or id(person), person)
    return tuple(found.values())
