"""Who of a roster is which student: by ids that agree, or nobody."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_people import NASTY, TWINS, Nasty, classes

from autograder.course.layout import plain_name
from autograder.lms.collecting.enrolment import enrol, matching
from autograder.lms.collecting.students import StudentId
from autograder.lms.model import IdKind, Lms, Person, Roster

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autograder.lms.collecting.enrolment import Enrolment


def student(key: str, name: str = "", email: str = "", number: str = "") -> Person:
    """Return somebody as the gradebook knows them."""
    first, _, last = name.partition(" ")
    ids = {IdKind.USER: number} if number else {}
    return Person(lms=Lms.PLAIN, student=key, first_name=first, last_name=last, email=email, ids=ids)


def person(name: str, email: str = "", lms: Lms = Lms.CANVAS, **ids: str) -> Person:
    """Return somebody as a roster has them."""
    return Person(lms=lms, name=name, email=email, ids={IdKind(kind): one for kind, one in ids.items()})


def roster(*people: Person, where: str = "roster.csv") -> Roster:
    """Return a roster of one LMS."""
    numbered = (replace(one, line=line) for line, one in enumerate(people, start=2))
    return Roster(lms=people[0].lms, where=where, people=tuple(numbered))


def who(enrolment: Enrolment) -> dict[str, str]:
    """Return by name who is which student."""
    return {one.shown: one.student for one in enrolment.people}


def stored(enrolment: Enrolment, known: Iterable[Person] = ()) -> list[Person]:
    """Return what the gradebook says after an enrolment."""
    return [*known, *(student(one) for one in enrolment.new), *enrolment.people]


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (student("aruiz"), person("Ruiz, Ana", login="aruiz", user="501")),
        (student("S1"), person("Ruiz, Ana", sis="S1", login="aruiz")),
        (student("501"), person("Ruiz, Ana", user="501", login="aruiz")),
        (student("ana", number="501"), person("Ruiz, Ana", user="501", login="aruiz")),
        (student("ana", email="Ana@Example.edu"), person("Ruiz, Ana", "ana@example.EDU", user="501")),
        (person("A. R.", sis="007"), person("Ruiz, Ana", sis="007", user="9")),
        (person("A. R.", sis="007"), person("Ruiz, Ana", lms=Lms.MOODLE, sis="007", login="x")),
        (student("ana", "Ana Ruiz"), person("Ruiz, Ana", lms=Lms.MOODLE, participant="5501")),
    ],
)
def test_any_id_finds_a_student(known: Person, told: Person) -> None:
    """The course's own, the one of nbgrader's column, an address, or what an LMS called them before."""
    known = replace(known, student=known.student or "ana")
    enrolment = enrol([known, student("ben")], [roster(told)])

    assert who(enrolment) == {"Ruiz, Ana": known.student}
    assert enrolment.new == ()
    assert enrolment.left == ()


def test_new_students_get_a_folder() -> None:
    """Called by the login, else the registrar's id, else the number; or as one wishes."""
    people = roster(
        person("Ruiz, Ana", "ana@example.edu", login="aruiz", sis="S1", user="501"),
        person("Ek, Ida", "ida@example.edu", sis="S2", user="502"),
        person("Sukarno", "suk@example.edu", user="503"),
    )

    assert who(enrol([], [people])) == {"Ruiz, Ana": "aruiz", "Ek, Ida": "S2", "Sukarno": "503"}
    assert who(enrol([], [people], StudentId.USER)) == {
        "Ruiz, Ana": "501",
        "Ek, Ida": "502",
        "Sukarno": "503",
    }
    by_mail = enrol([], [people], StudentId.EMAIL)
    assert by_mail.new == ("ana@example.edu", "ida@example.edu", "suk@example.edu")
    by_login = enrol([], [people], StudentId.LOGIN)
    assert who(by_login) == {"Ruiz, Ana": "aruiz"}
    assert [one.name for one in by_login.left] == [
        "Ek, Ida (roster.csv, line 3)",
        "Sukarno (roster.csv, line 4)",
    ]
    assert "--student-id" in by_login.left[0].reason


def test_two_ids_that_name_two_students_name_none() -> None:
    """It is told, and nothing is written for that person; for others it is."""
    known = [student("aruiz"), student("ana", email="ana@example.edu"), student("ben")]
    told = roster(person("Ruiz, Ana", "ana@example.edu", login="aruiz"), person("Ek, Ben", login="ben"))
    enrolment = enrol(known, [told])

    assert who(enrolment) == {"Ek, Ben": "ben"}
    assert [one.name for one in enrolment.unknown] == ["Ruiz, Ana"]
    (left,) = enrolment.left
    assert "ana and aruiz" in left.reason
    assert not left.harmless


def test_a_number_that_is_by_chance_another_students_id_is_told() -> None:
    """Registrar's ids and numbers of an LMS may be of one look."""
    known = [student("2002", "Ana Ruiz", "ana@example.edu"), student("3003", "Bo Ek", "bo@example.edu")]
    ana = person("Ruiz, Ana", "ana@example.edu", sis="2002", user="3003")
    zoe = person("Adams, Zoe", "zoe@example.edu", sis="4004", user="2002")

    assert who(enrol(known, [roster(ana, zoe)])) == {}
    assert who(enrol(known, [roster(zoe)])) == {}
    assert who(enrol(known, [roster(ana, zoe)], StudentId.SIS)) == {"Ruiz, Ana": "2002", "Adams, Zoe": "4004"}


def test_two_people_who_would_be_one_student_are_nobody() -> None:
    """Not even one of them."""
    told = roster(person("Ek, Ida", login="ek"), person("Ek, Udo", login="udo", sis="ek"))
    enrolment = enrol([student("ek")], [told])

    assert enrolment.people == ()
    assert [one.shown for one in enrolment.unknown] == ["Ek, Ida", "Ek, Udo"]


def test_addresses_that_differ_by_large_letters_alone_are_nobodys() -> None:
    """Whose of the two it is in the gradebook, nobody can tell."""
    told = roster(
        person("Ek, Ida", "ek@example.edu", user="1"), person("Ek, Udo", "EK@example.edu", user="2")
    )
    enrolment = enrol([student("ida", email="ek@example.edu")], [told])

    assert "ida" not in who(enrolment).values()
    known = replace(told.people[0], ids={IdKind.LOGIN: "ida"})
    enrolment = enrol([student("ida", email="ek@example.edu")], [roster(known, told.people[1])])
    assert who(enrolment) == {"Ek, Ida": "ida", "Ek, Udo": "2"}
    both = [student("ida", email="ek@example.edu"), student("udo", email="Ek@example.edu")]
    assert enrol(both, [roster(person("Ek, Ida", "ek@example.edu", user="1"))]).people == ()


def test_an_account_that_is_another_is_told() -> None:
    """Somebody with the same address and another number may be somebody else."""
    known = [student("ana"), replace(person("Ruiz, Ana", "ana@example.edu", user="501"), student="ana")]
    enrolment = enrol(known, [roster(person("Ruiz, Ana", "ana@example.edu", user="777"))])

    assert enrolment.people == ()
    assert "501, not 777" in enrolment.left[0].reason


def test_a_number_may_be_replaced_by_hand() -> None:
    """Where a login and the name are the student's; it is told. A login alone may be somebody else's now."""
    known = [replace(person("Ruiz, Ana", login="aruiz", user="901"), student="ana"), student("ana")]
    right = roster(person("Ruiz, Ana María", login="aruiz", user="501"))

    refused = enrol(known, [right])
    assert refused.people == ()
    assert "--force" in refused.left[0].reason
    enrolment = enrol(known, [right], force=True)
    assert who(enrolment) == {"Ruiz, Ana María": "ana"}
    assert enrolment.replaced == ((Lms.CANVAS, "Canvas's number of ana is 501 now, not 901"),)
    assert enrol(known, [roster(person("Ek, Ida", login="aruiz", user="501"))], force=True).people == ()
    both = [*known, replace(person("Ek, Ida", login="ida", user="501"), student="ida")]
    assert enrol(both, [right], force=True).people == ()


@pytest.mark.parametrize(
    ("called", "is_told"),
    [("Yan Young", True), ("", False), ("Ana Ruiz", False), ("RUIZ Ana", False), ("Ana María Ruiz", False)],
)
@pytest.mark.parametrize("column", [False, True])
def test_a_number_is_nobodys_against_their_name(called: str, *, is_told: bool, column: bool) -> None:
    """Canvas's number 501 is by chance another student's id; no address need say so."""
    known = student("yan", called, number="501") if column else student("501", called)
    ana = roster(person("Ruiz, Ana", sis="777", user="501", login="aruiz"))
    enrolment = enrol([known], [ana])

    assert who(enrolment) == ({} if is_told else {"Ruiz, Ana": known.student})
    assert not is_told or "who is called Yan Young in the course" in enrolment.left[0].reason
    if not column:
        assert who(enrol([known], [ana], StudentId.USER)) == {"Ruiz, Ana": "501"}
        assert who(enrol([known], [ana], StudentId.LOGIN)) == {"Ruiz, Ana": "aruiz"}


def test_a_login_that_went_to_somebody_else_is_told() -> None:
    """The number is one student's, the login was another's."""
    known = [
        replace(person("Ruiz, Ana", user="501", login="aruiz"), student="ana"),
        replace(person("Ruiz, Abel", user="502", login="abel"), student="abel"),
    ]
    assert enrol(known, [roster(person("Ruiz, Abel", user="502", login="aruiz"))]).people == ()
    assert who(enrol(known, [roster(person("Ruiz, Abel", user="502", login="new"))])) == {
        "Ruiz, Abel": "abel"
    }


@pytest.mark.parametrize("bad", ["../x", "a/b", ".hidden", "a\\b", " a", "a\x1b", "x" * 129, "a\u202eb"])
def test_no_id_becomes_a_folder_that_it_should_not(bad: str) -> None:
    """A login may hold what a folder may not."""
    enrolment = enrol([], [roster(person("Ruiz, Ana", login=bad), person("Ek, Ida", login="ida"))])

    assert who(enrolment) == {"Ek, Ida": "ida"}
    assert "cannot be the name of a folder" in enrolment.left[0].reason


def test_no_two_folders_are_one_on_some_disk() -> None:
    """Large letters and accents that are written in two ways."""
    told = roster(person("A", login="Ana"), person("B", login="ben"), person("C", login="Ben"))
    enrolment = enrol([student("ana")], [told])

    assert enrolment.people == ()
    assert len(enrolment.left) == 3
    apart = enrol([student("müller")], [roster(person("M", login=unicodedata.normalize("NFD", "müller")))])
    assert apart.people == ()


def test_two_rosters_of_one_lms_are_put_together() -> None:
    """Sections exported one by one, and Moodle's participants beside its worksheet."""
    participants = roster(
        person("Ana Ruiz", "ana@example.edu", Lms.MOODLE, sis="7", login="aruiz"),
        person("Kim Park", "kim1@example.edu", Lms.MOODLE, login="kim1"),
        person("Kim Park", "kim2@example.edu", Lms.MOODLE, login="kim2"),
        where="participants.csv",
    )
    worksheet = roster(
        person("Ana Ruiz", lms=Lms.MOODLE, participant="5501"),
        person("Kim Park", "kim2@example.edu", Lms.MOODLE, participant="5502"),
        where="worksheet.csv",
    )
    people = {one.student: one for one in enrol([], [participants, worksheet]).people}

    assert people["aruiz"].ids == {IdKind.SIS: "7", IdKind.LOGIN: "aruiz", IdKind.PARTICIPANT: "5501"}
    assert people["kim2"].ids[IdKind.PARTICIPANT] == "5502"
    assert sorted(people) == ["aruiz", "kim1", "kim2"]


def test_two_accounts_are_two_people() -> None:
    """Also with one name and one address: another login is somebody else, or somebody has to look."""
    one, other = (person("Ruiz, Ana", "ana@example.edu", login=login) for login in ("ana", "ana2"))

    assert [one.student for one in enrol([], [roster(one), roster(other)]).people] == ["ana", "ana2"]


def test_a_name_that_two_have_puts_nobody_together() -> None:
    """The worksheet of the one would be the other's, whichever of the rosters has it twice."""
    participants = roster(
        person("Kim Park", lms=Lms.MOODLE, login="kim1"), person("Kim Park", lms=Lms.MOODLE, login="kim2")
    )
    worksheet = roster(person("Kim Park", lms=Lms.MOODLE, participant="5502"))
    enrolment = enrol([], [participants, worksheet])

    assert [dict(one.ids) for one in enrolment.people] == [{IdKind.LOGIN: "kim1"}, {IdKind.LOGIN: "kim2"}]
    assert len(enrolment.unknown) == 1
    turned = enrol([], [worksheet, participants])
    assert [dict(one.ids) for one in turned.people] == [{IdKind.LOGIN: "kim1"}, {IdKind.LOGIN: "kim2"}]


def test_a_roster_may_say_the_ids_of_the_course_itself() -> None:
    """A list that somebody made for this course needs no rule."""
    made = Person(lms=Lms.PLAIN, student="ana", name="Ana Ruiz", ids={IdKind.LOGIN: "ben"})

    assert who(enrol([student("ben")], [roster(made)])) == {"Ana Ruiz": "ana"}


@given(classes(), st.sampled_from([Lms.CANVAS, Lms.BLACKBOARD]))
@settings(max_examples=30)
def test_a_class_enrolls_once(people: tuple[Nasty, ...], lms: Lms) -> None:
    """Everybody is a student or is told; the second time nobody is new and everybody is who they were."""
    told = Roster(lms=lms, where="roster.csv", people=tuple(one.person(lms) for one in people))
    first = enrol([], [told])
    again = enrol(stored(first), [told])

    assert len(first.people) + len(first.unknown) == len(people)
    assert len([one for one in first.left if not one.harmless]) == len(first.unknown)
    assert len({one.student.casefold() for one in first.people}) == len(first.people)
    assert all(plain_name(one.student) for one in first.people)
    assert again.people == first.people
    assert again.new == ()


def test_a_course_may_have_several_systems() -> None:
    """Whoever is in both is one student, and each keeps the ids of both."""
    rosters = [
        Roster(lms=lms, where=lms.value, people=tuple(one.person(lms) for one in (*NASTY, *TWINS)))
        for lms in (Lms.CANVAS, Lms.SAKAI)
    ]
    enrolment = enrol([], rosters)

    assert enrolment.left == ()
    assert len(enrolment.people) == 2 * len(enrolment.new)
    assert set(enrolment.new) == {one.login for one in (*NASTY, *TWINS)}


def test_the_number_of_one_lms_says_nothing_to_another() -> None:
    """A download of Moodle is not matched by Canvas's numbers; names and logins count everywhere."""
    known = [
        replace(person("Ruiz, Ana", user="501", login="aruiz"), student="ana"),
        student("ben", number="7"),
    ]
    enrolment = enrol(known, [roster(person("Ana Ruiz", lms=Lms.MOODLE, login="aruiz", participant="501"))])

    def ids(lms: Lms) -> set[tuple[str, str]]:
        return {
            (kind.value, value)
            for one in matching(known, enrolment, lms)
            for kind, value in one.ids.items()
            if one.student == "ana"
        }

    assert ids(Lms.MOODLE) == {("login", "aruiz"), ("participant", "501")}
    assert ids(Lms.CANVAS) == {("login", "aruiz"), ("user", "501")}
    assert ids(Lms.PLAIN) == ids(Lms.MOODLE) | ids(Lms.CANVAS)
