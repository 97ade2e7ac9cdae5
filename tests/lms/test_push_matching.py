"""Who in an LMS gets whose grade: whoever an id means, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_person

from autograder.lms.model import IdKind, Lms
from autograder.lms.push.matching import NOBODY, match_members

if TYPE_CHECKING:
    from autograder.lms.model import Person


def test_a_name_alone_gives_nobody_a_grade() -> None:
    """Two people may share a name that the roster has once."""
    there = [made_person(Lms.MOODLE, name="Ana Ruiz", user="7")]
    grade = made_grade(
        "ana", first_name="Ana", last_name="Ruiz", people=(made_person(Lms.PLAIN, name="Ana Ruiz"),)
    )

    found = match_members(there, [grade])

    assert found.people == {}
    assert found.reasons == {"ana": NOBODY}


@pytest.mark.parametrize(
    "details",
    [
        {"people": (made_person(Lms.MOODLE, user="7"),)},
        {"people": (made_person(Lms.PLAIN, lti="af-7"),)},
        {"people": (made_person(Lms.CANVAS, sis="007"),)},
        {"lms_user_id": "7"},
        {"lms_user_id": "af-7"},
        {"email": "Ana@example.edu "},
    ],
    ids=str,
)
def test_any_id_and_the_address_find_the_same_person(details: dict[str, Any]) -> None:
    """Whatever a roster brought is enough, spaces and case of an address do not count."""
    there = [
        made_person(Lms.MOODLE, email="ana@example.edu", user="7", sis="007", lti="af-7"),
        made_person(Lms.MOODLE, email="bo@example.edu", user="8", sis="008", lti="af-8"),
    ]

    found = match_members(there, [made_grade("student-a", **details)])

    assert found.people == {"student-a": there[0]}


def test_leading_zeros_count() -> None:
    """7 and 007 are two people."""
    there = [made_person(Lms.MOODLE, sis="7"), made_person(Lms.MOODLE, sis="007")]

    found = match_members(there, [made_grade("007"), made_grade("7"), made_grade("07")])

    assert found.people == {"007": there[1], "7": there[0]}
    assert found.reasons == {"07": NOBODY}


def test_the_number_of_another_lms_means_nothing_here() -> None:
    """Canvas counts its people, too."""
    grade = made_grade("ana", people=(made_person(Lms.CANVAS, user="7"),))

    assert match_members([made_person(Lms.MOODLE, user="7")], [grade]).people == {}


def test_what_fits_two_people_gives_neither_a_grade() -> None:
    """An address that a couple shares is nobody's."""
    there = [made_person(Lms.MOODLE, email="us@example.edu", user=number) for number in "78"]

    found = match_members(there, [made_grade("ana", email="us@example.edu")])

    assert found.people == {}
    assert "fits several people" in found.reasons["ana"]


def test_one_person_gets_no_two_grades() -> None:
    """The later of two would silently replace the other."""
    there = [made_person(Lms.MOODLE, email="ana@example.edu", login="ana", user="7")]

    found = match_members(
        there, [made_grade("ana"), made_grade("a2", email="ana@example.edu"), made_grade("bo")]
    )

    assert found.people == {}
    assert found.reasons["ana"] == found.reasons["a2"]
    assert "fits several students: a2, ana" in found.reasons["ana"]


def test_an_address_is_not_believed_against_an_id() -> None:
    """Whoever took over an address is not who had it."""
    there = [made_person(Lms.MOODLE, email="ana@example.edu", user="9")]
    grade = made_grade("student-a", email="ana@example.edu", people=(made_person(Lms.MOODLE, user="7"),))

    found = match_members(there, [grade])

    assert found.people == {}
    assert "their id there is '9'" in found.reasons["student-a"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"user": "7", "login": "ana.ruiz"}, "their login there is 'Zoe', and 'ana.ruiz' in the roster"),
        ({"user": "7", "sis": "S1"}, "their id of the school there is '007', and 'S1'"),
        ({"login": "Zoe", "user": "9"}, "their id there is '7', and '9'"),
        ({"user": "7", "email": "ana@example.edu"}, "their e-mail address there is 'zoe@example.edu'"),
        ({"participant": "31", "email": "ana@example.edu"}, "their e-mail address there is"),
    ],
    ids=str,
)
def test_an_id_that_fits_somebody_else_gives_them_nothing(known: dict[str, str], said: str) -> None:
    """Another server, or a test server, has given the number to another person."""
    there = [
        made_person(
            Lms.MOODLE,
            name="Zoe Zed",
            email="zoe@example.edu",
            user="7",
            sis="007",
            login="Zoe",
            participant="31",
        )
    ]
    grade = made_grade("ana", people=(made_person(Lms.MOODLE, name="Ana Ruiz", **known),))

    found = match_members(there, [grade])

    assert found.people == {}
    assert "fits Zoe Zed, but" in found.reasons["ana"]
    assert said in found.reasons["ana"]


@pytest.mark.parametrize(
    "known",
    [
        {"user": "7", "login": "ZED", "sis": " 007", "email": "Zoe@Example.edu "},
        {"user": "7", "login": "", "email": ""},
        {"user": "7", "participant": "5501"},
        {"user": "7", "lti": "other-tool"},
    ],
    ids=str,
)
def test_what_is_written_otherwise_or_means_something_else_contradicts_nothing(known: dict[str, str]) -> None:
    """Case, spaces, what is not known, and numbers of another assignment or another tool."""
    ids = {"user": "7", "login": "zed", "sis": "007", "participant": "31", "lti": "ours"}
    there = [made_person(Lms.MOODLE, email="zoe@example.edu", **ids)]
    grade = made_grade("zoe", email="old@example.edu", people=(made_person(Lms.MOODLE, **known),))

    assert match_members(there, [grade]).people == {"zoe": there[0]}


def test_two_whose_numbers_another_server_swapped_both_get_nothing() -> None:
    """Each would get the other's score, and nobody a word."""
    there = [
        made_person(Lms.CANVAS, "Li, Bo", user="501", login="bo@example.edu"),
        made_person(Lms.CANVAS, "Ruiz, Ana", user="502", login="ana@example.edu"),
    ]
    grades = [
        made_grade(name, people=(made_person(Lms.CANVAS, user=user, login=f"{name}@example.edu"),))
        for name, user in (("ana", "501"), ("bo", "502"))
    ]

    assert match_members(there, grades).people == {}
    swapped = [
        made_grade(name, people=(made_person(Lms.CANVAS, user=user),)) for name, user in (("ana", "501"),)
    ]
    assert match_members(there, swapped).people == {"ana": there[0]}, "by the number alone it would be Bo"


def test_an_id_of_lti_from_another_registration_does_not_keep_anybody_out() -> None:
    """A platform may call people otherwise for each tool; the address still finds them."""
    there = [made_person(Lms.OPENEDX, email="ana@example.edu", lti="new")]
    grade = made_grade("a", email="ana@example.edu", people=(made_person(Lms.OPENEDX, lti="old"),))

    assert match_members(there, [grade]).people == {"a": there[0]}


ids = st.sampled_from(["1", "01", "2", "ana", "Ana"])
people = st.builds(
    lambda kinds, email: made_person(Lms.MOODLE, email=email, **kinds),
    st.dictionaries(st.sampled_from([kind.value for kind in IdKind]), ids, max_size=3),
    st.sampled_from(["", "a@example.edu", "A@example.edu", "b@example.edu"]),
)


@settings(max_examples=60)
@given(st.lists(people, max_size=4), st.lists(people, max_size=3))
def test_nobody_is_matched_twice_and_everybody_is_told(there: list[Person], known: list[Person]) -> None:
    """Each student has a person or a reason, no person has two students, and a match shares something."""
    grades = [made_grade(f"s{at}", people=(person,), email=person.email) for at, person in enumerate(known)]

    found = match_members(there, grades)

    assert {*found.people, *found.reasons} == {grade.student for grade in grades}
    assert not set(found.people) & set(found.reasons)
    assert len({id(person) for person in found.people.values()}) == len(found.people)
    for grade in grades:
        if grade.student in found.people:
            person = found.people[grade.student]
            shared = set(person.ids.items()) & set(grade.people[0].ids.items())
            assert shared or person.email.casefold() == grade.email.casefold() != ""
