"""Finding people: by an id letter for letter, by a name only if it is one person's alone."""

from __future__ import annotations

import unicodedata

import pytest

from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.people import People, fold, full_names


def person(name: str, student: str = "", lms: Lms = Lms.CANVAS, **ids: str) -> Person:
    """Return somebody with a name and ids."""
    return Person(lms=lms, name=name, student=student, ids={IdKind(kind): one for kind, one in ids.items()})


def test_an_id_is_its_letters() -> None:
    """Zeros in front, dots and size count; no id of one kind is one of another."""
    people = People([person("A", user="7"), person("B", user="007"), person("C", sis="7")])

    assert [one.name for one in people.by_id(IdKind.USER, "7")] == ["A"]
    assert [one.name for one in people.by_id(IdKind.USER, "007")] == ["B"]
    assert people.by_id(IdKind.LOGIN, "7") == ()
    assert sorted(people.ids(IdKind.USER)) == ["007", "7"]


def test_a_student_whom_two_systems_know_is_one() -> None:
    """And two students of one name are two, whoever says so."""
    people = People(
        [
            person("Ruiz, Ana", "aruiz"),
            person("Ana Ruiz", "aruiz", Lms.MOODLE),
            person("Tan, Bo", "btan"),
            person("Tan, Bo", "btan2"),
            person("Lee, Cho"),
            person("Lee, Cho"),
        ]
    )

    assert [one.student for one in people.by_name("Ana Ruiz")] == ["aruiz"]
    assert [one.student for one in people.by_name("Bo Tan")] == ["btan", "btan2"]
    assert len(people.by_name("Cho Lee")) == 2
    assert people.by_name("Nobody") == ()


@pytest.mark.parametrize("name", ["Müller, Jean-Luc", "Nguyễn, Thị Ánh", "李, 小龙", "O’Hara, Ana  María"])
def test_a_name_is_found_however_it_is_written(name: str) -> None:
    """In either order, with its accents in one piece or two, in any case and with any kind of space."""
    people = People([person(name)])
    last, first = (part.strip() for part in name.split(","))

    for way in (name, f"{first} {last}", f"{last} {first}", name.upper(), f" {name}\u00a0"):
        for form in ("NFC", "NFD"):
            assert people.by_name(unicodedata.normalize(form, way)), (way, form)
    assert not people.by_name(last)


def test_accents_are_not_dropped() -> None:
    """Müller and Muller are two people."""
    assert fold("Müller") != fold("Muller")
    assert fold("ﬁne\u200f") == "fine"


def test_a_person_of_one_name_has_one_way() -> None:
    """No order is made up for a mononym."""
    assert full_names(person("Sukarno")) == ("Sukarno",)
    assert full_names(Person(lms=Lms.MOODLE, first_name="Sukarno")) == ("Sukarno",)
    assert full_names(Person(lms=Lms.MOODLE, first_name="Ana", last_name="Ruiz", name="Ana Ruiz")) == (
        "Ana Ruiz",
        "Ruiz Ana",
        "Ruiz, Ana",
    )
