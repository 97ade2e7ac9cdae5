"""Sakai takes every export whole, and does what the export says."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from export_scenes import assert_a_round_trip_changes_nothing_else, assert_told_is_done, scenes, uncut
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_person, made_request
from nasty_people import ANA, NASTY
from sakai_importer import Sakai, sakai_of

from autograder.errors import CourseError
from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.exports.sakai import export
from autograder.lms.model import GradeState, Lms
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from export_scenes import Scene

TITLES = st.sampled_from(
    ["HW 1", "HW 1: Lists, part 2", 'Say "hi"; twice', "Übung 3", "=SUM(A1)", "Test #1", "a * b", "1", "李"]
)


def site(**details: object) -> Sakai:
    """Return a site with Ana, and one item that she has 3 points in."""
    known = {"people": [ANA], "items": {"HW 1": Decimal(10)}, "scores": {("aruiz", "HW 1"): Decimal(3)}}
    return Sakai(**known | details)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(scene=scenes(Lms.SAKAI, TITLES), comments=st.booleans())
def test_what_is_told_is_what_sakai_does(*, scene: Scene, comments: bool) -> None:
    """No new item, no other points, nobody else's score; comments go beside scores and nowhere else."""
    lms = sakai_of(scene)
    request = scene.request(lms.download())
    exported = export(
        made_request(**{name: getattr(request, name) for name in request.__slots__} | {"comments": comments})
    )

    assert_told_is_done(scene, lms, exported, uncut)

    assert lms.modified == []
    sent = {grade.student: grade for grade in scene.grades}
    for (login, title), told in lms.comments.items():
        assert comments
        assert title == scene.titles[WHOLE]
        assert told.lstrip("'") in sent[login].comment.replace("\x00", "�").replace("\ud800", "�")
        assert not told.startswith(("=", "+", "-", "@"))
    assert_a_round_trip_changes_nothing_else(scene, lms, export)


def test_the_naive_files_fall_into_the_traps() -> None:
    """A title with a bracket, a blank heading, a comment without its item, other points, a decimal point."""

    def of(text: str, **details: object) -> list[str]:
        return site(**details).upload(text.encode()).errors

    assert of("id,name,HW [a]\naruiz,,9\n") == ["'HW [a]' is no heading"]
    assert of("id,name,HW 1,\naruiz,,9,\n") == ["heading 4 is blank"]
    assert of("id,name,* HW 1\naruiz,,good\n") == ["comments on 'HW 1', which is no item"]
    assert of("id,name,HW 1\naruiz,,9\naruiz,,8\n")[0] == "aruiz is there twice"
    assert of("id;name;HW 1\naruiz;;nan\n", mark=",") == ["'nan' is no number"]
    lms = site()
    lms.upload(b"id,name,HW 1 [12]\naruiz,,9\n")
    assert lms.modified == ["HW 1"]


@pytest.mark.parametrize("title", ["HW [a]", "[10]", "# HW", "* HW", "HW ", "HW [10]"])
def test_a_title_that_sakai_would_misread_is_refused(title: str) -> None:
    """Before the whole file is."""
    with pytest.raises(CourseError, match="Sakai would not take"):
        export(made_request([made_grade("ana")], title=title))


@pytest.mark.parametrize("mark", [".", ","])
def test_the_file_is_the_kind_that_sakai_writes(mark: str) -> None:
    """With a mark of byte order, everything quoted, and semicolons where decimals have a comma."""
    lms = site(mark=mark)
    like = parse_sheet(lms.download(), "theirs.csv")
    grades = [made_grade("aruiz", comment="-1: no proof"), made_grade("gone", GradeState.MISSING)]

    exported = export(made_request(grades, like, comments=True))

    expected = '"Student ID","Name","HW 1 [10]","* HW 1"\r\n"aruiz","Ruiz, Ana","9.5","\'-1: no proof"\r\n'
    if mark == ",":
        expected = expected.replace('","', '";"').replace("9.5", "9,5")
    assert exported.files[0].data == b"\xef\xbb\xbf" + expected.encode()
    assert exported.changes[0].after == f"9{mark}5"
    assert any("a comma" in note for note in exported.notes) == (mark == ",")


def test_without_an_export_items_get_our_title_and_points() -> None:
    """That it makes items, or changes their points, is told."""
    grades = [
        made_grade("x", people=(made_person(Lms.SAKAI, login="aruiz"),), first_name="=Ana", last_name="Ruiz"),
        made_grade("ben", "4"),
        made_grade("cleo", GradeState.UNGRADED),
    ]
    for mark in ".,":
        lms = site(mark=mark)
        exported = export(made_request(grades, comments=True, options={"decimal": mark}))

        imported = lms.upload(exported.files[0].data)
        assert (imported.errors, imported.created, imported.unknown) == ([], [], ["ben"])
        assert lms.scores == {("aruiz", "HW 1"): Decimal("9.5")}
        assert [change.action for change in exported.changes] == [
            Action.SKIPPED,
            Action.APPLIED,
            Action.APPLIED,
        ] or (
            sorted((change.student, change.action) for change in exported.changes)
            == [("ben", Action.APPLIED), ("cleo", Action.SKIPPED), ("x", Action.APPLIED)]
        )
        assert any("HW 1 [10]" in note for note in exported.notes)
        assert any("ben" in note and "--like" in note for note in exported.notes)


def test_replaced_comments_are_told() -> None:
    """An instructor's words are not overwritten silently; a comment on the whole is not one on a part."""
    lms = site(comments={("aruiz", "HW 1"): "mine"})
    like = parse_sheet(lms.download(), "theirs.csv")

    exported = export(made_request([made_grade("aruiz", comment="ours")], like, comments=True))
    assert any("replaced for 1 students" in note for note in exported.notes)
    assert lms.upload(exported.files[0].data).errors == []
    assert lms.comments == {("aruiz", "HW 1"): "ours"}

    parts = made_request([made_grade("aruiz")], comments=True, by_exercise=True)
    assert b"*" not in export(parts).files[0].data


def test_a_file_without_items_is_refused() -> None:
    """In one line."""
    with pytest.raises(CourseError, match=r"theirs.csv, line 1.*no columns of grades"):
        export(made_request([made_grade("ana")], "Student ID,Name\nana,Ana\n"))
    with pytest.raises(CourseError, match=r"no column for 'HW 1'.*'HW 2 "):
        export(made_request([made_grade("ana")], "Student ID,Name,HW 2 [5],# Total\nana,Ana,,\n"))


def test_two_rows_of_one_student_are_left_out() -> None:
    """Sakai refuses the whole file for them."""
    lms = site(people=[ANA, ANA, NASTY[4]])
    like = parse_sheet(lms.download(), "theirs.csv")

    exported = export(made_request([made_grade("aruiz"), made_grade("muller")], like))

    assert lms.upload(exported.files[0].data).errors == []
    assert set(lms.scores) == {("aruiz", "HW 1"), ("muller", "HW 1")}
    assert lms.scores["aruiz", "HW 1"] == 3
