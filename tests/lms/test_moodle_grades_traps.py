"""Traps of Moodle's import of grades: for each it refuses a simple file, and never the one that is made."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from made_grades import NOW, made_grade, made_request
from moodle_grade_importer import DOWNLOADED, Choice, RefusedError, User
from moodle_gradebooks import ANA, BO, REAL, agree, choices, gradebook, graded, like

from autograder.errors import CourseError
from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.exports.moodle_grades import export
from autograder.lms.model import GradeState
from autograder.lms.sheets import parse_sheet, sheet_bytes

BY_NUMBER = Choice(header="ID number", by="idnumber", items={"HW 1": "HW 1"})


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("S01,9.5\nS09,4\n", "0 users"),
        ("S01,9.5\nS02,excused\n", "bad grade"),
        ('S01,"9,5"\n', "bad grade"),
        ("S01,9.5\nS02,100.5\n", "above the limit"),
        ("S01,9.5\nS02\n", "locked"),
        ("S01,9.5\nS02,4,x\n", "columns"),
        ('"S01\\",9.5\nS02,"4,0"\n', "0 users"),
    ],
)
def test_a_simple_file_is_refused_whole(rows: str, told: str) -> None:
    """So these are the rules that ours keep; a line of one cell is skipped."""
    course = gradebook(locked={(11, "HW 1")} if told == "locked" else set())
    with pytest.raises(RefusedError, match=told):
        course.accepts(f"ID number,HW 1\n{rows}".encode(), BY_NUMBER)


def test_who_could_make_moodle_refuse_is_left_out_and_told() -> None:
    """The others are taken."""
    twin = User(number=13, first="Cleo", last="A", idnumber="S02")
    nobody = User(number=14, first="Dov", last="B", email="dov@school.test")
    eva = User(number=15, first="Eva", last="C", idnumber="S05")
    finn = User(number=16, first="Finn", last="D", idnumber="S06")
    gus = User(number=17, first="Gus", last="E", idnumber="S07")
    hal = User(number=18, first="Hal", last="F", idnumber="S08")
    course = gradebook(ANA, replace(BO, email=""), twin, nobody, eva, finn, hal)
    grades = [
        *(graded(ANA), graded(BO), graded(twin), graded(nobody)),
        *(graded(eva, GradeState.EXCUSED), graded(finn, "10.5"), graded(gus), graded(hal, "-1")),
    ]
    done = export(made_request(grades, like(course), options={"identity": "idnumber"}))

    reasons = {one.student: one.reason for one in done.changes}
    assert reasons["s11"] == ""
    assert "fits several students: s12, s13" in reasons["Bo Lindqvist"]
    assert {one.action for one in done.changes if one.student in {"s12", "s13"}} == {Action.SKIPPED}
    assert "no ID number that is theirs alone" in reasons["s14"]
    assert "excused" in reasons["s15"]
    assert "10.5 is not between 0 and 10" in reasons["s16"]
    assert "no row" in reasons["s17"]
    assert "-1 is not between" in reasons["s18"]
    agree(done, course)
    assert course.grades == {(11, "HW 1"): Decimal("9.5")}


@pytest.mark.parametrize(
    ("theirs", "identity", "told"),
    [
        ({"idnumber": "S, 01\\"}, "idnumber", "0 users"),
        ({"idnumber": "S\r01"}, "idnumber", "0 users"),
        ({"email": "BO@school.test"}, "email", "2 users"),
    ],
)
def test_who_would_be_looked_for_by_something_else_is_left_out(
    theirs: dict[str, str], identity: str, told: str
) -> None:
    """A backslash that swallows, an end of a line that Moodle changes, an address that is another's too."""
    ana = replace(ANA, **theirs)  # type: ignore[arg-type]
    course = gradebook(ana, BO)
    naive = sheet_bytes([["Who", "HW 1"], [getattr(ana, identity), "9.5"], ["S02", "4,5"]])
    with pytest.raises(RefusedError, match=told):
        course.accepts(naive, Choice(header="Who", by=identity, items={"HW 1": "HW 1"}))

    people = [made_grade("s11", lms_user_id=ana.idnumber), graded(BO)]
    done = export(made_request(people, like(course), options={"identity": identity}))

    agree(done, course)
    assert (11, "HW 1") not in course.grades


def test_nothing_is_sent_as_nothing() -> None:
    """Nobody knows whether an empty cell clears a grade."""
    course = gradebook(grades={(11, "HW 1"): Decimal(4)})
    assert course.accepts(b"ID number,HW 1\nS01,-\n", BY_NUMBER).nulls == [(11, "HW 1")]

    done = export(made_request([graded(ANA, GradeState.MISSING), graded(BO)], like(course)))
    agree(done, course)
    assert course.grades[11, "HW 1"] == 4
    zero = export(made_request([graded(ANA, GradeState.MISSING)], like(course), missing_as_zero=True))
    agree(zero, course)
    assert course.grades[11, "HW 1"] == 0


def test_a_missing_part_leaves_the_whole_row_out() -> None:
    """With a column for each exercise one empty cell would be a grade of nothing."""
    course = gradebook()
    course.items = {"exercise1": Decimal(4), "exercise2": Decimal(6)}
    items = {"Assignment: exercise1 (Real)": "exercise1", "Assignment: exercise2 (Real)": "exercise2"}
    bo = graded(BO)
    bo = replace(bo, parts=(bo.parts[0], replace(bo.parts[1], points=None)))
    done = export(made_request([graded(ANA), bo], like(course), by_exercise=True))

    agree(done, course, items)
    assert course.grades == {(11, "exercise1"): Decimal(4), (11, "exercise2"): Decimal("5.5")}
    assert {one.action for one in done.changes if one.student == "s12"} == {Action.SKIPPED}


def test_the_time_of_the_download_stays_and_is_believed() -> None:
    """It keeps an import from overwriting what was graded since; without the column nothing does."""
    course = gradebook()
    sheet = like(course)
    done = export(made_request([graded(ANA)], sheet))
    for graded_at in (course.now, course.now + 60):
        course.last_graded = graded_at
        with pytest.raises(RefusedError, match="too long ago"):
            course.accepts(done.files[0].data, choices(done)[0])
    course.last_graded = course.now - 1
    agree(done, course)

    with pytest.raises(CourseError) as caught:
        export(made_request([graded(ANA)], sheet, now=NOW + timedelta(days=365)))
    assert f"line 2, column 10 ({DOWNLOADED})" in str(caught.value)
    with pytest.raises(CourseError, match="no time of the last year"):
        export(made_request([graded(ANA)], sheet, now=NOW - timedelta(minutes=1)))
    participants = "First name,Last name,Email address,Groups\nAna,Ruiz,ana@school.test,\n"
    assert DOWNLOADED.encode() not in export(made_request([graded(ANA)], participants)).files[0].data


def test_grades_above_100_need_a_site_that_takes_them() -> None:
    """One of them, and Moodle refuses all."""
    course = gradebook()
    course.items["HW 1"] = Decimal(150)
    grades = [replace(graded(ANA, "120"), max_points=Decimal(150)), graded(BO)]
    agree(export(made_request(grades, like(course))), course)
    assert course.grades.keys() == {(12, "HW 1")}

    course.limit = Decimal(200)
    agree(export(made_request(grades, like(course), options={"limit": "200"})), course)
    assert course.grades[11, "HW 1"] == 120
    with pytest.raises(CourseError, match="'much' is no grade"):
        export(made_request(grades, options={"limit": "much"}))


def test_comments_are_sent_and_none_is_taken_away() -> None:
    """Students without one are in a file of their own, as an empty cell might erase what is there."""
    course = gradebook(feedback={(12, "HW 1"): "by hand"})
    grades = [graded(ANA, comment='see C:\\, "<b>"\nand more\\'), graded(BO)]
    done = export(made_request(grades, like(course), comments=True))

    assert [file.name for file in done.files] == [
        "hw1-moodle-grades.csv",
        "hw1-moodle-grades-without-comments.csv",
    ]
    assert any("import both" in note for note in done.notes)
    assert any(f"'Feedback: {REAL}'" in note for note in done.notes)
    agree(done, course)
    assert course.feedback == {
        (11, "HW 1"): "<p>see C:&#92;, &quot;&lt;b&gt;&quot;<br>and more&#92;</p>",
        (12, "HW 1"): "by hand",
    }
    assert len(export(made_request(grades[1:], like(gradebook()), comments=True)).files) == 1
    assert len(export(made_request(grades[:1], like(gradebook()), comments=True)).files) == 1


@pytest.mark.parametrize("mark", [".", ","])
def test_numbers_have_the_mark_of_the_site(mark: str) -> None:
    """9,5 is no number to an English site."""
    course = gradebook(mark=mark, grades={(12, "HW 1"): Decimal("2.5")})
    done = export(made_request([graded(ANA), graded(BO, "3.25")], like(course)))

    agree(done, course)
    assert course.grades == {(11, "HW 1"): Decimal("9.5"), (12, "HW 1"): Decimal("3.25")}


def test_what_moodle_finds_students_by_is_what_finds_most() -> None:
    """Or what is asked for."""
    dov = User(number=14, first="Dov", last="B", email="dov@school.test", username="dov")
    course = gradebook(ANA, BO, dov)

    def found_by(**options: str) -> str:
        done = export(made_request([graded(ANA), graded(BO), graded(dov)], like(course), options=options))
        return choices(done)[0].by

    assert found_by() == "email"
    assert found_by(identity="idnumber") == "idnumber"
    with pytest.raises(CourseError, match=r"--set identity.*idnumber, email"):
        found_by(identity="shoe size")


@pytest.mark.parametrize(
    ("identity", "numbers"), [("idnumber", {11}), ("email", {11, 12}), ("username", {11, 12})]
)
def test_without_a_file_students_are_named_by_what_the_course_knows(identity: str, numbers: set[int]) -> None:
    """A folder's name is a user name only if that is said."""
    course = gradebook()
    bo = replace(made_grade("blind", "4"), email=BO.email)
    done = export(made_request([graded(ANA), bo], options={"identity": identity}))
    (choice,) = choices(done, items={"HW 1": "HW 1"})

    upload = course.accepts(done.files[0].data, choice)
    assert choice.by == identity
    assert {number for number, _ in upload.grades} == numbers
    with pytest.raises(CourseError, match="'a' is named twice"):
        export(made_request([graded(ANA)], by_exercise=True, columns=BOTH_A))
    by_default = export(made_request([made_grade("ana")]))
    assert {one.action for one in by_default.changes} == {Action.SKIPPED}


def test_a_column_that_moodle_has_not_yet_is_named_by_the_title() -> None:
    """The teacher maps it; a name that was asked for must be there."""
    course = gradebook()
    done = export(made_request([graded(ANA)], like(course), title="HW 9"))
    assert done.files[0].data.startswith(b"First name,Last name,ID number,Email address,HW 9,")

    with pytest.raises(CourseError, match=r"no column for 'HW 9'.*'Assignment: HW 1 \(Real\)'"):
        export(made_request([graded(ANA)], like(course), columns={WHOLE: "HW 9"}))
    for name in (REAL, "Assignment: HW 1", "HW 1"):
        agree(export(made_request([graded(ANA)], like(gradebook()), columns={WHOLE: name})), gradebook())


BOTH_A = {"exercise1": "a", "exercise2": "a"}
NO_ITEMS = "First name,Last name,Email address\nAna,Ruiz,ana@school.test\n"
GOOD = "First name,Last name,ID number,Assignment: HW 1 (Real)\nAna,Ruiz,S01,-\n"


@pytest.mark.parametrize(
    ("text", "details", "told"),
    [
        (GOOD.replace("ID number", "Shoe size"), {}, "no column says who a student is"),
        (GOOD + "Bo,Lind,qvist,S02,-\n", {}, "line 3: has 5 cells, but the header has 4"),
        (GOOD.replace("-", "9.5") + 'Bo,L,S02,"9,5"\n', {}, "decimal"),
        (NO_ITEMS, {"by_exercise": True, "title": "x", "columns": BOTH_A}, "no column for 'a'"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_place(
    text: str, details: dict[str, Any], told: str
) -> None:
    """One clear line: where, what, what to do."""
    with pytest.raises(CourseError) as caught:
        export(made_request([graded(ANA)], text, **details))

    assert told in str(caught.value)


def test_a_file_in_german_is_understood() -> None:
    """Columns are found by words that are known, by addresses, and by where Moodle puts the time."""
    text = (
        "Vorname,Nachname,ID-Nummer,E-Mail-Adresse,Aufgabe: HW 1 (Punkte),Zuletzt heruntergeladen\n"
        f'Ana,Ruiz,,ana@school.test,"2,50",{int(NOW.timestamp())}\n'
    )
    done = export(made_request([graded(ANA)], text))

    assert [(one.before, one.after) for one in done.changes] == [("2,50", "9,5")]
    assert done.files[0].data.decode().splitlines()[1].startswith('Ana,Ruiz,,ana@school.test,"9,5",1')
    assert (
        parse_sheet(done.files[0].data, "ours.csv").header == parse_sheet(text.encode(), "theirs.csv").header
    )


@pytest.mark.parametrize("shown", ["Percentage", "Prozentsatz", "?"])
def test_an_item_that_is_shown_as_percentages_only_is_no_new_item(shown: str) -> None:
    """As if it were none, all its grades would be overwritten, and told as if there had been none."""
    like = f"First name,Last name,ID number,Assignment: HW 1 ({shown})\nAna,Ruiz,S01,-\nBo,L,S02,40.00 %\n"
    for request in (
        made_request([graded(ANA)], like),
        made_request([graded(ANA)], like, columns={WHOLE: "HW 1"}),
    ):
        with pytest.raises(CourseError, match=r"column 4.*does not show the points of 'HW 1'.*\(Real\)"):
            export(request)


def test_percentages_beside_points_confuse_nobody() -> None:
    """Even where nobody has a grade yet, so that both columns look alike."""
    like = "First name,ID number,HW 1 (Real),HW 1 (Percentage),HW 1 (Letter)\nAna,S01,-,-,-\n"

    (change,) = export(made_request([graded(ANA)], like)).changes

    assert (change.action, change.column) == (Action.APPLIED, "HW 1 (Real)")


def test_an_item_with_a_scale_is_refused_before_moodle_does() -> None:
    """One word where a number is, and Moodle takes nothing."""
    like = "First name,ID number,HW 1 (Real)\nAna,S01,-\nBo,S02,Good\n"

    with pytest.raises(CourseError, match=r"line 3, column 3 .*'Good' is no number.*refuses the whole file"):
        export(made_request([graded(ANA)], like))


def test_what_makes_moodle_refuse_the_file_is_told() -> None:
    """A grade given after the download, a scale, another group; what is not known is told, too."""
    course = gradebook()
    done = export(made_request([graded(ANA)], like(course)))
    text = " ".join(done.notes)
    assert f"{DOWNLOADED!r}: if anybody gets a grade in Moodle after" in text
    assert "scale" in text
    assert "not in your group" in text
    assert "overwritten if you map" not in text

    new = export(made_request([graded(ANA)], like(course), title="HW 7"))
    assert any("no column for 'HW 7'" in note and "overwritten if you map" in note for note in new.notes)


def test_somebody_of_another_group_makes_moodle_refuse_the_file() -> None:
    """No export of Moodle's says who is in the group of whoever imports it, so it is told."""
    course = gradebook(group=frozenset({11}))
    done = export(made_request([graded(ANA), graded(BO)], like(course)))

    with pytest.raises(RefusedError, match="not in the group: 12"):
        course.accepts(done.files[0].data, choices(done)[0])
    assert any("not in your group" in note for note in done.notes)
    agree(export(made_request([graded(ANA)], like(course))), course)


def test_nobody_knows_that_moodle_would_cut_so_nothing_above_the_maximum_is_sent() -> None:
    """A file of one's own may hold it, and then it counts."""
    course = gradebook()
    assert course.accepts(b"ID number,HW 1\nS01,10.5\n", BY_NUMBER).grades == {(11, "HW 1"): Decimal("10.5")}

    (change,) = export(made_request([graded(ANA, "10.5")], like(gradebook(ANA)))).changes
    assert change.action is Action.SKIPPED
