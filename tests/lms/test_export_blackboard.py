"""Blackboard takes every export whole, and does what the export says."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from blackboard_importer import Blackboard, blackboard_of
from export_scenes import assert_a_round_trip_changes_nothing_else, assert_told_is_done, scenes, uncut
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_person, made_request
from nasty_people import ANA, NASTY

from autograder.errors import CourseError
from autograder.lms.exports.blackboard import export
from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.model import GradeState, Lms
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from export_scenes import Scene

TITLES = st.sampled_from(
    [
        "HW 1",
        "HW 1: Lists, part 2",
        'Say "hi"',
        "Übung [3]",
        "=SUM(A1)",
        "Lab |7",
        "a\tb",
        "Total Pts: 3",
        "李",
    ]
)


def course(**details: object) -> Blackboard:
    """Return a course with Ana, and one column that she has 3 points in."""
    known = {"people": [ANA], "columns": {"11": ("HW 1", Decimal(10), "Score")}}
    return Blackboard(**known | {"scores": {("aruiz", "HW 1"): Decimal(3)}} | details)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(
    scene=scenes(Lms.BLACKBOARD, TITLES),
    blank_clears=st.booleans(),
    tabs=st.booleans(),
    kind=st.sampled_from(["", "xls", "csv"]),
)
def test_what_is_told_is_what_blackboard_does(
    *,
    scene: Scene,
    blank_clears: bool,
    tabs: bool,
    kind: str,
) -> None:
    """No new column, no refusal, nobody else's score, with any names, titles, marks and kinds of file."""
    lms = blackboard_of(scene, blank_clears=blank_clears, tabs=tabs)
    options = {"decimal": scene.mark} | ({"file": kind} if kind else {})

    exported = export(scene.request(lms.download(), **options))

    assert_told_is_done(scene, lms, exported, uncut)
    assert_a_round_trip_changes_nothing_else(scene, lms, export, **options)


def test_a_header_without_number_makes_a_new_column() -> None:
    """The naive file: what it names is not the column that counts."""
    lms = course()

    assert lms.upload(b"Username,HW 1\naruiz,9.5\n").created == ["HW 1"]
    assert lms.scores == {("aruiz", "HW 1"): Decimal(3)}


def test_without_a_download_the_number_is_asked_for() -> None:
    """One line says what would happen, and what to do."""
    grades = [made_grade("ana", people=(made_person(Lms.BLACKBOARD, login="aruiz"),))]
    with pytest.raises(CourseError, match=r"new column of text.*--like.*column_id"):
        export(made_request(grades))
    with pytest.raises(CourseError, match="no number"):
        export(made_request(grades, options={"column_id": "x"}))

    lms = course()
    for request in (
        made_request(grades, options={"column_id": "11"}),
        made_request(grades, columns={WHOLE: "HW 1 [Total Pts: 10 Score] |11"}),
    ):
        exported = export(request)
        imported = lms.upload(exported.files[0].data)
        assert (imported.errors, imported.created, imported.unknown) == ([], [], [])
        assert lms.scores == {("aruiz", "HW 1"): Decimal("9.5")}
        assert [(change.student, change.after) for change in exported.changes] == [("ana", "9.5")]


def test_an_id_that_is_somebody_else_s_user_name_is_not_sent() -> None:
    """Without a download, a student's id in the course is taken for the user name only if nobody has it."""
    grades = [
        made_grade("x1", "9", people=(made_person(Lms.BLACKBOARD, login="aruiz"),)),
        made_grade("aruiz", "2"),
        made_grade("ben", "4"),
    ]

    exported = export(made_request(grades, options={"column_id": "11"}))

    lms = course(people=[*NASTY])
    assert lms.upload(exported.files[0].data).unknown == ["ben"]
    assert lms.scores["aruiz", "HW 1"] == 9
    actions = {change.student: change.action for change in exported.changes}
    assert actions == {"x1": Action.APPLIED, "aruiz": Action.SKIPPED, "ben": Action.APPLIED}
    assert any("ben" in note and "--like" in note for note in exported.notes)


def test_half_a_character_in_an_id_stops_nobody_else() -> None:
    """A folder's name may be no UTF-8; no LMS has such a user."""
    lms = course()
    exported = export(
        made_request([made_grade("aruiz"), made_grade("b\udcff")], options={"column_id": "11", "file": "csv"})
    )

    assert lms.upload(exported.files[0].data).unknown == ["b?"]
    assert lms.scores == {("aruiz", "HW 1"): Decimal("9.5")}


def test_what_is_shown_as_something_else_is_not_sent_points() -> None:
    """9.5 in a column of percents would be 9.5 percent."""
    lms = course(columns={"11": ("HW 1", Decimal(10), "Percentage"), "12": ("HW 2", Decimal(5), "Score")})
    like = parse_sheet(lms.download(), "theirs.xls")

    with pytest.raises(CourseError, match=r"theirs.xls, line 1, column 7.*Percentage"):
        export(made_request([made_grade("aruiz")], like))
    assert export(made_request([made_grade("aruiz")], like, title="HW 2")).changes[0].action is Action.APPLIED


def test_headers_in_other_languages_are_columns_too() -> None:
    """Their number says which; how they are shown is for the instructor to know."""
    like = "Last Name,Username,HW 1 [Gesamtpunkte: bis zu 10 Punkte] |11\nRuiz,aruiz,\n"

    exported = export(made_request([made_grade("aruiz")], like))

    assert course().upload(exported.files[0].data).created == []
    assert b"|11" in exported.files[0].data
    assert any("not in English" in note for note in exported.notes)
    assert not any("not in English" in note for note in _notes(course()))


def _notes(of: Blackboard) -> tuple[str, ...]:
    return export(made_request([made_grade("aruiz")], parse_sheet(of.download(), "theirs.xls"))).notes


def test_totals_are_no_choice() -> None:
    """Blackboard calculates them, and ignores what is uploaded."""
    lms = course(columns={"11": ("Total", Decimal(10), "Score"), "12": ("HW 2", Decimal(5), "Score")})

    with pytest.raises(CourseError, match=r"no column for 'Total'.*'HW 2") as caught:
        export(made_request([made_grade("aruiz")], parse_sheet(lms.download(), "theirs.xls"), title="Total"))
    assert "|11" not in str(caught.value)


def test_a_row_without_user_name_is_left_out() -> None:
    """One such row fails the whole upload."""
    nobody = NASTY[4]
    lms = course(people=[ANA, nobody])
    like = lms.download().decode("utf-16").replace('"muller"', '""').encode("utf-16")
    grades = [made_grade("aruiz"), made_grade(nobody.sis)]

    exported = export(made_request(grades, parse_sheet(like, "theirs.xls")))

    assert lms.upload(like).errors == ["a row without Username"]
    assert lms.upload(exported.files[0].data).errors == []
    assert [change.action for change in exported.changes] == [Action.APPLIED, Action.SKIPPED, Action.SKIPPED]


@pytest.mark.parametrize("comments", [True, False])
def test_feedback_goes_beside_the_score(*, comments: bool) -> None:
    """As HTML that says what the comment says; without comments, what is there stays."""
    ben = NASTY[4]
    lms = course(people=[ANA, ben], alone="11", feedback={("muller", "HW 1"): ("<p>old</p>", "HTML")})
    grades = [
        made_grade("aruiz", comment='=1 <b>"no"</b>\nand & more'),
        made_grade("muller", "4", comment=""),
        made_grade("gone", GradeState.MISSING),
    ]

    exported = export(made_request(grades, parse_sheet(lms.download(), "theirs.xls"), comments=comments))

    assert lms.upload(exported.files[0].data).errors == []
    told = (
        ("<p>=1 &lt;b&gt;&quot;no&quot;&lt;/b&gt;<br />and &amp; more</p>", "HTML") if comments else ("", "")
    )
    assert lms.feedback == {("aruiz", "HW 1"): told, ("muller", "HW 1"): ("<p>old</p>", "HTML")}


def test_replaced_feedback_and_comments_without_a_place_are_told() -> None:
    """Nothing of an instructor's words goes silently."""
    lms = course(alone="11", feedback={("aruiz", "HW 1"): ("<p>old</p>", "HTML")})
    grades = [made_grade("aruiz", comment="new")]

    def notes(of: Blackboard) -> str:
        like = parse_sheet(of.download(), "theirs.xls")
        return " ".join(export(made_request(grades, like, comments=True)).notes)

    assert "replaced for 1 students" in notes(lms)
    assert "No comments are sent" in notes(course())
    assert "No comments are sent" not in notes(lms)


def test_the_file_is_text_with_tabs_in_utf_16_or_csv() -> None:
    """What Blackboard itself calls ``.xls``; by default the kind of the instructor's file."""
    grades = [made_grade("aruiz")]

    def made(of: Blackboard, **options: str) -> tuple[str, bytes]:
        (file,) = export(made_request(grades, parse_sheet(of.download(), "theirs"), options=options)).files
        return file.name, file.data

    for tabs, name, start in (
        (True, "hw1-blackboard.xls", b'\xff\xfe"\0'),
        (False, "hw1-blackboard.csv", b'"La'),
    ):
        assert made(course(tabs=tabs))[0] == name
        assert made(course(tabs=not tabs), file=name[-3:])[1].startswith(start)
    rows = list(csv.reader(io.StringIO(made(course())[1].decode("utf-16")), delimiter="\t"))
    assert rows == [
        ["Last Name", "First Name", "Username", "Student ID", "HW 1 [Total Pts: 10 Score] |11"],
        ["Ruiz", "Ana", "aruiz", "S0001", "9.5"],
    ]
    with pytest.raises(CourseError, match="xls or csv"):
        made(course(), file="xlsx")


def test_another_file_is_refused_in_one_line() -> None:
    """With what to do."""
    with pytest.raises(CourseError, match=r"theirs.csv, line 1.*no column Username.*Work Offline"):
        export(made_request([made_grade("ana")], "Student,ID\nana,1\n"))


def test_points_that_differ_are_told() -> None:
    """9.5 of 10 here is 9.5 of 100 there."""
    lms = course(columns={"11": ("HW 1", Decimal(100), "Score")})

    exported = export(made_request([made_grade("aruiz")], parse_sheet(lms.download(), "theirs.xls")))

    assert any("100 points in Blackboard and 10 here" in note for note in exported.notes)
