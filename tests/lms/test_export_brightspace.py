"""Brightspace takes every export whole, and does what the export says."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from brightspace_importer import KEYS, Brightspace, brightspace_of
from export_scenes import CUT, assert_a_round_trip_changes_nothing_else, assert_told_is_done, scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_person, made_request
from nasty_people import ANA, NASTY

from autograder.errors import CourseError
from autograder.lms.exports.brightspace import export
from autograder.lms.exports.model import Action
from autograder.lms.model import GradeState, Lms
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from export_scenes import Scene

TITLES = st.sampled_from(
    [
        "HW 1",
        "HW 1: Lists, part 2",
        'Say "hi"',
        "Übung <3>",
        "=SUM(A1)",
        "Points Grade",
        "HW 1 Points Grade",
        "李",
    ]
)


def course(**details: object) -> Brightspace:
    """Return a course with Ana, and one item that she has 3 points in."""
    known = {"people": [ANA], "items": {"HW 1": Decimal(10)}, "scores": {("aruiz", "HW 1"): Decimal(3)}}
    return Brightspace(**known | details)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(
    scene=scenes(Lms.BRIGHTSPACE, TITLES),
    blank_clears=st.booleans(),
    can_exceed=st.booleans(),
    keys=st.sampled_from([KEYS, KEYS[:1], KEYS[1:]]),
    bom=st.booleans(),
)
def test_what_is_told_is_what_brightspace_does(
    *, scene: Scene, blank_clears: bool, can_exceed: bool, keys: tuple[str, ...], bom: bool
) -> None:
    """No new item, no refusal, nobody else's score, with any names, titles, ids and marks."""
    lms = brightspace_of(scene, blank_clears=blank_clears, can_exceed=can_exceed, keys=keys, bom=bom)

    exported = export(scene.request(lms.download(), decimal=scene.mark))

    assert_told_is_done(scene, lms, exported, lms.stored)
    for change in exported.changes:
        above = (
            change.action is Action.APPLIED
            and Decimal(change.after.replace(",", ".")) > lms.items[lms.title(change.column)]
        )
        assert (CUT in change.reason) == above
    assert_a_round_trip_changes_nothing_else(scene, lms, export, decimal=scene.mark)


def test_the_naive_files_fall_into_the_traps() -> None:
    """Names are refused, an item's own name makes a new one, ids without their mark lose zeros elsewhere."""
    lms = course()

    assert lms.upload(b"Username,Last Name,HW 1 Points Grade,End-of-Line Indicator\naruiz,Ruiz,9,#\n").errors
    assert lms.upload(b"Username,HW 1,End-of-Line Indicator\naruiz,9,#\n").created == ["HW 1"]
    assert lms.upload(b"Username,HW 1 Points Grade\naruiz,9\n").errors
    assert lms.upload(b"Username,HW 1 Points Grade,End-of-Line Indicator\n#aruiz,12,#\n").errors == []
    assert lms.scores == {("aruiz", "HW 1"): Decimal(10)}
    assert lms.upload(b"Username,HW 1 Points Grade,End-of-Line Indicator\n#aruiz,,#\n").errors == []
    assert lms.scores == {}


def test_ids_and_headers_are_the_instructor_s_letter_for_letter() -> None:
    """Everything else of their file stays at home."""
    ben = NASTY[1]
    lms = course(people=[ANA, ben])
    grades = [made_grade("aruiz", "9.5"), made_grade("aohara", GradeState.MISSING), made_grade("gone")]

    exported = export(made_request(grades, parse_sheet(lms.download(), "theirs.csv")))

    assert exported.files[0].data.decode().split("\r\n") == [
        f"OrgDefinedId,Username,{lms.header('HW 1')},End-of-Line Indicator",
        "#S0001,#aruiz,9.5,#",
        "",
    ]
    actions = [(change.student, change.action, change.before) for change in exported.changes]
    assert actions == [
        ("aruiz", Action.APPLIED, "3"),
        ("aohara", Action.SKIPPED, ""),
        ("gone", Action.SKIPPED, ""),
    ]


def test_without_an_export_students_are_named_by_what_the_course_knows() -> None:
    """By user name, or by the registrar's id where that is what the course knows of all."""
    by_login = [made_grade("x", people=(made_person(Lms.BRIGHTSPACE, login="aruiz", sis="S0001"),))]
    by_sis = [made_grade("x", people=(made_person(Lms.BRIGHTSPACE, sis="S0001"),))]

    for grades, start in ((by_login, b"Username"), (by_sis, b"OrgDefinedId")):
        lms = course()
        exported = export(made_request(grades))
        assert exported.files[0].data.startswith(start)
        assert lms.upload(exported.files[0].data).created == []
        assert lms.scores == {("aruiz", "HW 1"): Decimal("9.5")}
        assert not any("--like" in note for note in exported.notes)
    assert course().upload(export(made_request(by_sis, title="HW 7")).files[0].data).created
    assert any("'HW 7'" in note for note in export(made_request(by_sis, title="HW 7")).notes)
    assert any("--like" in note for note in export(made_request([made_grade("aruiz")])).notes)


def test_a_file_that_is_no_export_or_is_shifted_is_refused() -> None:
    """With the line; a shifted row would give one item's score to another."""
    grades = [made_grade("aruiz")]
    with pytest.raises(CourseError, match=r"theirs.csv, line 1.*neither a column OrgDefinedId nor Username"):
        export(made_request(grades, "Student,ID\nana,1\n"))
    shifted = course().download().decode().replace("Ruiz,", "Ruiz,PhD,")
    with pytest.raises(CourseError, match=r"theirs.csv, line 2, column 9 \(End-of-Line Indicator\)"):
        export(made_request(grades, shifted))


def test_what_takes_no_points_is_no_choice() -> None:
    """Text, letters and what is calculated are not offered."""
    header = "Username,A Text Grade,B Grade Symbol,C Points Grade <Formula MaxPoints:3>,D Points Grade"
    with pytest.raises(CourseError, match=r"no column for 'C'.*'D Points Grade'[.]"):
        export(made_request([made_grade("ana")], f"{header}\n#ana,,,,\n", title="C"))


def test_students_without_the_registrar_s_id_are_not_the_same_student() -> None:
    """Only ids that are there are shared; those who do share one are left out."""
    like = (
        "OrgDefinedId,Username,HW 1 Points Grade,End-of-Line Indicator\n"
        "#,#ana,,#\n#,#ben,,#\n#7,#cleo,,#\n#7,#dov,,#\n"
    )

    exported = export(made_request([made_grade(one) for one in ("ana", "ben", "cleo", "dov")], like))

    actions = {
        change.student: change.action for change in exported.changes if change.action is Action.APPLIED
    }
    assert actions.keys() == {"ana", "ben"}
    assert sum("'7' (lines 4, 5)" in change.reason for change in exported.changes) == 2


def test_nobody_is_sent_by_a_row_without_ids() -> None:
    """A mark without an id behind it is no id."""
    like = "OrgDefinedId,Username,Last Name,First Name,HW 1 Points Grade\n#,#,Ruiz,Ana,\n"

    exported = export(made_request([made_grade("ana", first_name="Ana", last_name="Ruiz")], like))

    assert [change.action for change in exported.changes] == [Action.SKIPPED] * 2
    assert exported.files[0].data.count(b"\n") == 1
    assert any("nothing to upload" in note for note in exported.notes)
