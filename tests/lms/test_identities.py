"""What each LMS calls a student stays in the gradebook, letter for letter, and nbgrader's columns with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.gradebook import Gradebook
from autograder.lms.model import IdKind, Lms, Person

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.course import Course

ANA = Person(
    lms=Lms.CANVAS,
    student="aruiz",
    name="Ruiz, Ana",
    email="ana@example.edu",
    ids={IdKind.USER: "501", IdKind.LOGIN: "aruiz", IdKind.SIS: "007.10"},
    sections=("Sec 2", "Sec 1"),
)
MOODLE_ANA = Person(
    lms=Lms.MOODLE,
    student="aruiz",
    first_name="Ana",
    last_name="Ruiz",
    email="a.ruiz@example.org",
    ids={IdKind.PARTICIPANT: "5501", IdKind.SIS: "7"},
)


@pytest.fixture
def gradebook(course: Course) -> Iterator[Gradebook]:
    """Return the gradebook of a course without students."""
    with Gradebook(course.db_url) as gradebook:
        yield gradebook


def of(gradebook: Gradebook, lms: Lms, assignment: str = "") -> list[Person]:
    """Return the students as one LMS knows them."""
    return [one for one in gradebook.people(assignment) if one.lms == lms]


def test_an_lms_finds_its_students_again(gradebook: Gradebook) -> None:
    """Zeros, dots and the order of sections are kept, and nbgrader's columns are filled."""
    gradebook.enroll_people([ANA, MOODLE_ANA], "ps1")

    assert of(gradebook, Lms.CANVAS) == [ANA]
    (known,) = of(gradebook, Lms.PLAIN)
    assert (known.first_name, known.last_name, known.email) == ("Ana", "Ruiz", "ana@example.edu")
    assert known.ids == {IdKind.USER: "501"}
    assert [one.student for one in gradebook.scores("multi_head_attention")] == ["aruiz"]


def test_a_number_of_a_participant_counts_in_its_assignment_only(gradebook: Gradebook) -> None:
    """In another assignment the same number is somebody else."""
    gradebook.enroll_people([MOODLE_ANA], "ps1")

    assert of(gradebook, Lms.MOODLE, "ps1") == [MOODLE_ANA]
    for assignment in ("", "ps2"):
        (known,) = of(gradebook, Lms.MOODLE, assignment)
        assert known.ids == {IdKind.SIS: "7"}


def test_what_a_person_has_typed_stays(gradebook: Gradebook) -> None:
    """A roster fills in what is not there; half of one name and half of another would be nobody's."""
    gradebook.enroll("aruiz", first_name="Ana María", email="")
    gradebook.enroll_people([ANA])

    (known,) = of(gradebook, Lms.PLAIN)
    assert (known.first_name, known.last_name, known.email) == ("Ana María", "", "ana@example.edu")


def test_an_lms_may_change_its_mind(gradebook: Gradebook) -> None:
    """A new login takes the place of the old one; what a later roster does not tell stays."""
    gradebook.enroll_people([ANA])
    later = Person(lms=Lms.CANVAS, student="aruiz", ids={IdKind.LOGIN: "ana.ruiz"}, sections=("Sec 1",))
    gradebook.enroll_people([later])

    (known,) = of(gradebook, Lms.CANVAS)
    assert known.ids == {**ANA.ids, IdKind.LOGIN: "ana.ruiz"}
    assert known.name == ANA.name
    assert known.sections == ("Sec 1",)


@pytest.mark.parametrize("typed", ["", "7000"])
def test_a_number_that_an_lms_takes_back_is_gone_everywhere(gradebook: Gradebook, typed: str) -> None:
    """Else it would name two students; nbgrader's column changes with it, but not what a person typed."""
    gradebook.enroll_people([replace(ANA, ids={IdKind.USER: typed}, lms=Lms.PLAIN)] if typed else [])
    gradebook.enroll_people([ANA])
    gradebook.enroll_people([replace(ANA, ids={IdKind.USER: "901"})])

    (known,) = of(gradebook, Lms.CANVAS)
    assert known.ids[IdKind.USER] == "901"
    (column,) = of(gradebook, Lms.PLAIN)
    assert column.ids[IdKind.USER] == (typed or "901")


def test_the_same_again_writes_nothing(gradebook: Gradebook, course: Course) -> None:
    """Not a byte of the gradebook changes."""
    assert gradebook.people() == ()
    gradebook.enroll_people([ANA, MOODLE_ANA], "ps1")
    before = course.gradebook.read_bytes(), course.gradebook.stat().st_mtime_ns
    gradebook.enroll_people([MOODLE_ANA, ANA], "ps1")
    gradebook.enroll_people([MOODLE_ANA, ANA])

    assert (course.gradebook.read_bytes(), course.gradebook.stat().st_mtime_ns) == before


def test_a_student_who_was_removed_is_gone(gradebook: Gradebook) -> None:
    """What an LMS knew of somebody makes nobody a student."""
    gradebook.enroll_people([ANA])
    with gradebook._database.writing() as connection:
        connection.execute(gradebook._database.table("student").delete())

    assert gradebook.people() == ()


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)


@given(
    people=st.lists(
        st.builds(
            Person,
            lms=st.sampled_from([Lms.CANVAS, Lms.SAKAI]),
            student=TEXT.filter(bool),
            name=TEXT,
            email=TEXT,
            ids=st.dictionaries(st.sampled_from([IdKind.USER, IdKind.LOGIN]), TEXT.filter(bool)),
            sections=st.lists(TEXT.filter(bool), max_size=3).map(tuple),
        ),
        max_size=4,
        unique_by=lambda one: (one.student, one.lms),
    )
)
@settings(max_examples=30)
def test_every_name_comes_back(shared_course: Course, people: list[Person]) -> None:
    """Quotes, percent signs, words of SQL, ends of lines: a value is a value."""
    with Gradebook(shared_course.db_url) as gradebook:
        with gradebook._database.writing() as connection:
            for table in ("student", "autograder_identity"):
                connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {table} (student)")
                connection.exec_driver_sql(f"DELETE FROM {table}")  # noqa: S608 - the names are above
            connection.exec_driver_sql("DROP TABLE autograder_identity")
        gradebook.enroll_people(people)

        known = {(one.student, one.lms): one for one in gradebook.people() if one.lms != Lms.PLAIN}
        told = {
            (one.student, one.lms): one for one in people if one.name or one.email or one.ids or one.sections
        }
        assert known == told
        assert {one.student for one in gradebook.people()} == {one.student for one in people}
