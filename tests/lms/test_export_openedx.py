"""Open edX takes every export whole and does what it says: a copy of its rules, and its own importers."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from export_scenes import OTHER, assert_a_round_trip_changes_nothing_else, assert_told_is_done, scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_person, made_request
from nasty_people import ANA, NASTY
from openedx_importer import BLOCK, MAX_BYTES, Overrides, StaffGraded, overrides_of, points_of
from openedx_real import ABSENT, PYTHON, OpenEdx, RealOverrides, RealStaffGraded

from autograder.errors import CourseError
from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.exports.openedx import export
from autograder.lms.model import GradeState, Lms
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from export_scenes import Scene

TITLES = st.sampled_from(["HW 1", "HW 1: Lists, part 2", 'Say "hi"', "Übung 3", "=SUM(A1)", "name-1", "李"])
WHOLES = scenes(Lms.OPENEDX, TITLES, whole=True).filter(lambda scene: scene.enrolled)
ALL = scenes(Lms.OPENEDX, TITLES).filter(lambda scene: scene.enrolled)
BEN = NASTY[4]


@pytest.fixture(scope="module")
def real() -> Iterator[OpenEdx]:
    """Return a process with Open edX's own importers."""
    if not PYTHON.exists():
        pytest.skip(ABSENT)
    with OpenEdx() as server:
        yield server


def problem(**details: object) -> StaffGraded:
    """Return a problem that Ana has 3 points in."""
    known = {"people": [ANA, BEN], "name": "HW 1", "scores": {("aruiz", "HW 1"): Decimal(3)}}
    return StaffGraded(**known | details)  # type: ignore[arg-type]


def cut(_: str, points: Decimal) -> Decimal:
    """Return a score as it was sent: what would be cut never is sent."""
    return points


@settings(max_examples=50)
@given(scene=WHOLES)
def test_what_is_told_is_what_happens_to_points(scene: Scene) -> None:
    """No row is refused, nobody else's points change, whoever is enrolled."""
    lms = points_of(scene)

    exported = export(scene.request(lms.download()))

    assert_told_is_done(scene, lms, exported, cut)
    assert_a_round_trip_changes_nothing_else(scene, lms, export)


@settings(max_examples=50)
@given(scene=ALL)
def test_what_is_told_is_what_happens_to_overrides(scene: Scene) -> None:
    """No row is refused, and no grade that is right already becomes an override."""
    lms = overrides_of(scene)

    exported = export(scene.request(lms.download()))

    assert_told_is_done(scene, lms, exported, cut)
    applied = {
        (one.student, lms.title(one.column)) for one in exported.changes if one.action is Action.APPLIED
    }
    assert lms.overridden == applied
    assert_a_round_trip_changes_nothing_else(scene, replace(lms, subsections=lms.subsections), export)


@settings(max_examples=20)
@given(scene=WHOLES)
def test_its_own_importer_of_points_does_what_is_told(real: OpenEdx, scene: Scene) -> None:
    """The real thing; it writes the same file and takes the same one as the copy of it."""
    copy = points_of(scene)
    lms = RealStaffGraded(real, copy)
    theirs, ours = (
        [row[:9] + row[11:] for row in csv.reader(io.StringIO(one.download().decode()))]
        for one in (lms, copy)
    )
    assert theirs == ours

    exported = export(scene.request(lms.download()))

    assert_told_is_done(scene, lms, exported, cut)
    for file in exported.files:
        copy.upload(file.data)
    assert copy.scores == lms.scores
    assert_a_round_trip_changes_nothing_else(scene, lms, export)


@settings(max_examples=20)
@given(scene=ALL)
def test_its_own_importer_of_overrides_does_what_is_told(real: OpenEdx, scene: Scene) -> None:
    """The real thing, with every subsection of the course."""
    copy = overrides_of(scene)
    lms = RealOverrides(real, copy)
    assert lms.download() == copy.download()

    exported = export(scene.request(lms.download()))

    assert_told_is_done(scene, lms, exported, cut)
    for file in exported.files:
        copy.upload(file.data)
    assert copy.scores == lms.scores


HEADER = "user_id,block_id,Previous Points,New Points\n"
ROWS = {
    "taken": f"{HEADER}501,{BLOCK},,9.5\n".encode(),
    "zero": f"{HEADER}501,{BLOCK},,0\n".encode(),
    "blank": f"{HEADER}501,{BLOCK},,\n".encode(),
    "above": f"{HEADER}501,{BLOCK},,11\n505,{BLOCK},,1\n".encode(),
    "comma": f'{HEADER}501,{BLOCK},,"9,5"\n'.encode(),
    "negative": f"{HEADER}501,{BLOCK},,-1\n".encode(),
    "another block": f"{HEADER}501,{BLOCK}x,,1\n".encode(),
    "mark of byte order": f"\ufeff{HEADER}501,{BLOCK},,1\n".encode(),
    "Latin-1": f"full_name,{HEADER}Müller,501,{BLOCK},,1\n".encode("latin-1"),
    "twice": f"{HEADER}501,{BLOCK},,1\n501,{BLOCK},,2\n".encode(),
    "missing column": b"user_id,block_id,New Points\n",
    "not enrolled": f"{HEADER}999,{BLOCK},,1\n".encode(),
    "more cells": f"{HEADER}501,{BLOCK},,1,2\n".encode(),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_copy_and_the_importer_agree_on_naive_files(real: OpenEdx, name: str) -> None:
    """Each documented trap: refused by both, or with the same points in both."""
    copy = problem()
    lms = RealStaffGraded(real, copy)

    assert bool(lms.upload(ROWS[name]).errors) == bool(copy.upload(ROWS[name]).errors)
    assert {
        place: points for place, points in lms.scores.items() if place[0] in {"aruiz", "muller"}
    } == copy.scores
    expected = {"taken": "9.5", "zero": "0", "twice": "1", "more cells": "1"}.get(name, "3")
    assert copy.scores["aruiz", "HW 1"] == Decimal(expected)


@pytest.mark.parametrize(
    "text",
    [
        "user_id,course_id,new_override-0b0c1d2e\n501,{course},4\n501,{course},5\n",
        "user_id,course_id,new_override-zzzzzzzz\n501,{course},4\n",
        "user_id,course_id,new_override-0b0c1d2e\n501,{course}x,4\n",
        "user_id,course_id,new_override-0b0c1d2e\n501,{course},-4\n",
        'user_id,course_id,new_override-0b0c1d2e\n501,{course},"4,5"\n',
        "user_id,course_id,new_override-0b0c1d2e\n501,{course}\n",
        "user_id,course_id,new_override-0b0c1d2e\n501,{course},4,5\n",
        "user_id,course_id,new_override-0b0c1d2e\n501,{course},4\n",
    ],
)
def test_the_copy_and_the_importer_agree_on_naive_overrides(real: OpenEdx, text: str) -> None:
    """Short and long rows and unknown subsections raise in it; all of them are refused."""
    copy = Overrides(people=[ANA], subsections={"0b0c1d2e": "HW 1"}, scores={("aruiz", "HW 1"): Decimal(3)})
    lms = RealOverrides(real, copy)
    data = text.format(course="course-v1:TestX+T1+2026").encode()

    assert bool(lms.upload(data).errors) == bool(copy.upload(data).errors)
    assert lms.scores == copy.scores


def test_rows_are_copied_letter_for_letter() -> None:
    """With a new number in the last column, without a mark of byte order, and only where it is new."""
    lms = problem(scores={("aruiz", "HW 1"): Decimal(3), ("muller", "HW 1"): Decimal(4)})
    saved_by_a_spreadsheet = b"\xef\xbb\xbf" + lms.download()
    grades = [made_grade("aruiz", "9.5"), made_grade("muller", "4"), made_grade("gone", GradeState.MISSING)]

    exported = export(made_request(grades, parse_sheet(saved_by_a_spreadsheet, "theirs.csv")))

    header, first, _ = lms.download().splitlines(keepends=True)
    assert exported.files[0].data == header + first.replace(b"3.0,\r\n", b"3.0,9.5\r\n")
    actions = [(change.student, change.action) for change in exported.changes]
    assert actions == [("aruiz", Action.APPLIED), ("muller", Action.UNCHANGED), ("gone", Action.SKIPPED)]


def test_nothing_above_the_maximum_is_sent() -> None:
    """One such row would stop everybody's; that it was cut is told."""
    above = made_grade("aruiz", "10.5")
    lms = problem()
    like = parse_sheet(lms.download(), "theirs.csv")

    exported = export(made_request([above], like))
    assert (exported.changes[0].after, exported.changes[0].reason[:20]) == ("10", "10.5 is above 10 poi")
    assert lms.upload(exported.files[0].data).errors == []

    more = export(made_request([above], like, options={"max_points": "12"}))
    assert more.changes[0].after == "10.5"
    assert lms.upload(more.files[0].data).errors
    for wrong in ("x", "0", "nan"):
        with pytest.raises(CourseError, match="no number of points"):
            export(made_request([above], like, options={"max_points": wrong}))
    with pytest.raises(CourseError, match="worth 1 points in Open edX and 10 here"):
        export(made_request([above], like, options={"max_points": "1"}))


def test_one_notebook_goes_into_one_problem() -> None:
    """The file is of one problem; the other notebooks go into others."""
    lms = problem()
    like = parse_sheet(lms.download(), "theirs.csv")
    grades = [made_grade("aruiz", "9.5"), made_grade("muller", GradeState.EXCUSED)]

    exported = export(made_request(grades, like, options={"notebook": "exercise2"}))
    assert lms.upload(exported.files[0].data).errors == []
    assert lms.scores == {("aruiz", "HW 1"): Decimal("5.5")}
    assert any("worth 6 points" in note for note in exported.notes)
    with pytest.raises(CourseError, match="Did you mean 'exercise2'"):
        export(made_request(grades, like, options={"notebook": "exercise3"}))
    for options in ({}, {"notebook": "exercise2"}):
        with pytest.raises(CourseError, match="notebook"):
            export(made_request(grades, like, by_exercise=True, options=options))


def test_another_problem_than_the_named_one_is_refused() -> None:
    """A file is of the problem that it was downloaded from."""
    like = parse_sheet(problem().download(), "theirs.csv")
    grades = [made_grade("aruiz")]

    with pytest.raises(CourseError, match=r"line 2, column 9 \(title\): .*problem 'HW 1', and not of 'HW 7'"):
        export(made_request(grades, like, columns={WHOLE: "HW 7"}))
    for name in ("HW 1", BLOCK):
        assert export(made_request(grades, like, columns={WHOLE: name})).changes[0].action is Action.APPLIED


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace(BLOCK, BLOCK + "x", 1), r"line 3, column 8 \(block_id\)"),
        (lambda text: text.replace(BLOCK, ""), r"line 2, column 8 \(block_id\): the row has no block_id"),
        (
            lambda text: text.replace("\r\n", ",x\r\n").replace(",x\r\n", "\r\n", 1),
            "line 2: the row has 14 cells",
        ),
        (lambda text: text.replace("New Points", "Points"), "neither a column 'New Points' nor"),
        (lambda text: text.replace("user_id", "id"), "no column user_id"),
        (lambda text: text.splitlines()[0], "nobody is in the file"),
        (lambda text: text.replace("Previous Points", "Previous"), "no column 'Previous Points'"),
    ],
)
def test_a_file_that_would_be_refused_is_refused_here(change: object, words: str) -> None:
    """With line and column, before anybody uploads it."""
    like = change(problem().download().decode())  # type: ignore[operator]
    with pytest.raises(CourseError, match=words):
        export(made_request([made_grade("aruiz")], like))


def test_without_its_own_file_there_is_no_export() -> None:
    """It names users by numbers that nobody else has."""
    with pytest.raises(CourseError, match="--like"):
        export(made_request([made_grade("aruiz")]))


def test_a_user_who_is_there_twice_is_left_out() -> None:
    """The first row would win silently; in the gradebook both would stop the file."""
    twice = replace(BEN, user=ANA.user)
    lms = problem(people=[ANA, twice, NASTY[5]])
    grades = [made_grade(one.login, "5", people=(one.person(Lms.OPENEDX),)) for one in (ANA, twice, NASTY[5])]

    exported = export(made_request(grades, parse_sheet(lms.download(), "theirs.csv")))

    assert lms.upload(exported.files[0].data).errors == []
    assert lms.scores == {("aruiz", "HW 1"): Decimal(3), ("bo.tan", "HW 1"): Decimal(5)}
    assert sum("'501' (lines 2, 3)" in change.reason for change in exported.changes) == 2


def test_only_the_subsections_that_are_sent_are_in_the_file() -> None:
    """A column of another one that was filled in by hand is not sent along."""
    lms = Overrides(people=[ANA], subsections={"0b0c1d2e": "HW 1", "1b0c1d2e": OTHER}, scores={})
    like = lms.download().decode().replace(f"{OTHER},,,,\r\n", f"{OTHER},,,,6\r\n")
    assert like != lms.download().decode()

    exported = export(made_request([made_grade("aruiz")], like))

    assert lms.upload(exported.files[0].data).errors == []
    assert lms.scores == {("aruiz", "HW 1"): Decimal("9.5")}


def test_a_large_class_comes_in_several_files() -> None:
    """Open edX takes 4 MiB at once; each file has the header, and together they have everybody."""
    people = [
        replace(ANA, login=f"s{number}", user=str(1000 + number), first="I" * 2000) for number in range(2500)
    ]
    lms = problem(people=people, scores={})
    grades = [made_grade(one.login, people=(made_person(Lms.OPENEDX, user=one.user),)) for one in people]
    like = lms.download()
    assert lms.upload(like).errors == ["too large"]

    exported = export(made_request(grades, parse_sheet(like, "theirs.csv")))

    assert [file.name for file in exported.files] == ["hw1-openedx-1.csv", "hw1-openedx-2.csv"]
    assert all(len(file.data) <= MAX_BYTES and not lms.upload(file.data).errors for file in exported.files)
    assert len(lms.scores) == len(people)
    assert any("all 2 files" in note for note in exported.notes)


def test_the_title_that_the_instructor_gives_is_the_problem_s() -> None:
    """A file of another problem would be filled with these scores; without a title somebody should look."""
    like = problem(name="Other HW 2").download().decode()
    grades = [made_grade("aruiz")]

    with pytest.raises(CourseError, match="problem 'Other HW 2', and not of 'HW 1'"):
        export(made_request(grades, like, title="HW 1"))
    with pytest.raises(CourseError, match="--set notebook=exercise1"):
        export(made_request(grades, like, title="hw1", columns={"exercise1": "Other HW 2"}))
    for title, told in (("hw1", True), ("Other HW 2", False)):
        notes = export(made_request(grades, like, title=title)).notes
        assert any("See that it is the one of 'hw1'" in note for note in notes) == told
