"""Traps of Canvas's Import: a simple file falls into each, the one that is made does not."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from canvas_courses import ANA, BO, JL, agree, canvas, cells, graded, like, said
from canvas_importer import RefusedError, Student, chosen_separator
from made_grades import made_grade, made_request

from autograder.errors import CourseError
from autograder.lms.exports.canvas import export
from autograder.lms.exports.canvas_gradebook import RESERVED
from autograder.lms.exports.model import Action
from autograder.lms.model import GradeState
from autograder.lms.sheets import parse_sheet, sheet_bytes

HW1 = {"HW 1 (4021)": 4021}
HEAD = "Student,ID,SIS User ID,SIS Login ID,Section"


def rows_of(text: str) -> bytes:
    """Return a file with the usual header and one assignment."""
    return f"{HEAD},HW 1 (4021)\n{text}".encode()


def test_a_blank_cell_takes_a_score_away_and_none_is_written() -> None:
    """Work that was not handed in has no score here, and may have one in Canvas."""
    course = canvas(aruiz="4.5", blind="EX")
    naive = rows_of('    Points Possible,,,,,10\n"Ruiz, Ana",501,S0001,aruiz,Sec 1,\n')
    assert course.accepts(naive).applied == {(501, 4021): None}

    grades = [graded(ANA, GradeState.MISSING), graded(BO, GradeState.UNGRADED), graded(JL)]
    done = export(made_request(grades, like(course)))

    assert said(done)["s501", "HW 1 (4021)"] == (Action.SKIPPED, "4.50", "4.50")
    assert said(done)["s502", "HW 1 (4021)"] == (Action.SKIPPED, "EX", "EX")
    assert [row[1] for row in cells(done)] == ["ID", "", "503"]
    agree(done, course, HW1)


def test_a_score_goes_only_if_that_was_asked_for_and_nothing_was_handed_in() -> None:
    """Then it is told, student by student."""
    course = canvas(aruiz="4.5", blind="3")
    grades = [
        graded(ANA, GradeState.MISSING),
        graded(BO, GradeState.UNGRADED),
        graded(JL, GradeState.MISSING),
    ]
    done = export(made_request(grades, like(course), options={"clear": "yes"}))

    assert said(done)["s501", "HW 1 (4021)"] == (Action.CLEARED, "4.50", "")
    assert said(done)["s502", "HW 1 (4021)"] == (Action.SKIPPED, "3.00", "3.00")
    assert said(done)["s503", "HW 1 (4021)"] == (Action.SKIPPED, "", "")
    agree(done, course, HW1)


def test_a_zero_is_written_only_for_what_is_missing_and_only_if_asked_for() -> None:
    """A zero that a program made up would be an F."""
    course = canvas()
    grades = [graded(ANA, GradeState.MISSING), graded(BO, GradeState.UNGRADED)]
    assert not course.accepts(export(made_request(grades, like(course))).files[0].data).applied

    done = export(made_request(grades, like(course), missing_as_zero=True))
    assert course.accepts(done.files[0].data).applied == {(501, 4021): Decimal(0)}


def test_an_excuse_stays_and_can_be_given() -> None:
    """EX is neither a score nor nothing; who is excused in Canvas was excused by a person."""
    course = canvas(aruiz="EX", blind="4")
    grades = [graded(ANA), graded(BO, GradeState.EXCUSED), graded(JL, GradeState.EXCUSED)]
    done = export(made_request(grades, like(course)))

    assert said(done)["s501", "HW 1 (4021)"] == (Action.SKIPPED, "EX", "EX")
    assert said(done)["s502", "HW 1 (4021)"] == (Action.APPLIED, "4.00", "EX")
    agree(done, course, HW1)
    course.apply(course.accepts(done.files[0].data))
    again = export(made_request(grades, like(course)))
    assert {one.action for one in again.changes} == {Action.SKIPPED, Action.UNCHANGED}


def test_who_has_not_got_the_assignment_gets_no_score() -> None:
    """Canvas drops it without a word, so it is told here."""
    course = canvas(ANA, BO)
    course.assignments[0].without = frozenset({501})
    done = export(made_request([graded(ANA), graded(BO)], like(course)))

    assert said(done)["s501", "HW 1 (4021)"] == (Action.SKIPPED, "N/A", "N/A")
    assert "not assigned" in done.changes[0].reason
    agree(done, course, HW1)


@pytest.mark.parametrize("phrase", RESERVED)
def test_a_title_with_reserved_words_is_not_dropped(phrase: str) -> None:
    """Canvas takes it for one of its totals; by its number the assignment is still found."""
    course = canvas()
    course.assignments[0].title = f"{phrase} Project"
    header = course.assignments[0].header
    naive = sheet_bytes([[*HEAD.split(","), header], ["Ruiz, Ana", "501", "", "", "", "9.50"]])
    assert course.accepts(naive).ignored_columns == [header]
    assert not course.accepts(naive).applied

    done = export(made_request([graded(ANA)], like(course), title=f"{phrase} Project"))
    assert phrase not in cells(done)[0][-1]
    assert any(phrase in note for note in done.notes)
    agree(done, course, {header: 4021})
    assert course.accepts(done.files[0].data).applied == {(501, 4021): Decimal("9.5")}

    with pytest.raises(CourseError, match="Canvas ignores"):
        export(made_request([graded(ANA)], title=f"{phrase} Project"))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1\N{NO-BREAK SPACE}234,50", None),
        ("1\N{NARROW NO-BREAK SPACE}234,50", None),
        ("1,234", Decimal("1.234")),
        ("1.234,50", Decimal("1234.5")),
        ("12,50", Decimal("12.5")),
    ],
)
def test_a_number_of_any_language_is_written_again_so_that_canvas_reads_it(
    text: str, read: Decimal | None
) -> None:
    """A score that has to be kept beside one that is sent, in the user's own way of writing numbers."""
    course = canvas(ANA)
    there = Decimal("1234.50") if read is None else read
    course.scores = {(501, 4021): there}
    naive = sheet_bytes([[*HEAD.split(","), "HW 1 (4021)"], ["Ruiz, Ana", "501", "", "", "", text]])
    assert course.accepts(naive).applied == ({(501, 4021): None} if read is None else {})

    gradebook = sheet_bytes(
        [
            [*HEAD.split(","), "HW 1 (4021)", "HW 1 extra (4022)"],
            ["    Points Possible", "", "", "", "", text, "5,00"],
            ["Ruiz, Ana", "501", "S0001", "aruiz", "Sec 1", text, ""],
        ]
    )
    course.assignments[0].points = there
    ana = graded(ANA)
    parts = (replace(ana.parts[0], points=None), ana.parts[1])
    columns = {"exercise1": "4021", "exercise2": "4022"}
    done = export(
        made_request(
            [replace(ana, parts=parts)],
            parse_sheet(gradebook, "theirs.csv"),
            columns=columns,
            by_exercise=True,
        )
    )
    upload = course.accepts(done.files[0].data)
    assert upload.is_clean
    assert (upload.applied, upload.unchanged) == ({(501, 4022): Decimal("5.5")}, {(501, 4021)})
    assert any("1 score" in note and "put back" in note for note in done.notes)


def test_no_thousands_separator_is_written() -> None:
    """Canvas reads 1,234 as 1.234."""
    course = canvas(ANA)
    naive = sheet_bytes([[*HEAD.split(","), "HW 1 (4021)"], ["Ruiz, Ana", "501", "", "", "", "1,234"]])
    assert course.accepts(naive).applied == {(501, 4021): Decimal("1.234")}

    done = export(made_request([graded(ANA, "1234")], like(course)))
    assert course.accepts(done.files[0].data).applied == {(501, 4021): Decimal(1234)}


def test_the_delimiter_is_told_by_three_lines_of_equal_width() -> None:
    """One short row of points makes Canvas read the file with semicolons, and refuse it."""
    course = canvas()
    ragged = rows_of("    Points Possible,,,,\nPlato,501,S0001,aruiz,Sec 1,9.5\n")
    assert chosen_separator(ragged.decode()) == ";"
    with pytest.raises(RefusedError, match="Invalid header row"):
        course.accepts(ragged)

    gradebook = parse_sheet(ragged, "gradebook.csv")
    agree(export(made_request([graded(ANA, "4")], gradebook)), course, HW1)


def test_semicolons_in_names_and_titles_do_not_turn_the_file_over() -> None:
    """Three lines with more semicolons than commas would."""
    semicolons = "a;b;c;d;e;f;g;h"
    people = [replace(one, sortable_name=f"{semicolons} {one.number}") for one in (ANA, BO, JL)]
    course = canvas(*people)
    course.assignments[0].title = semicolons
    header = course.assignments[0].header
    # Some courses hide the row of points.
    rows = [row for row in like(course).rows if "Points Possible" not in row[0]]
    naive = sheet_bytes([row[:6] for row in rows])
    assert chosen_separator(naive.decode()) == ";"

    gradebook = parse_sheet(sheet_bytes(rows), "gradebook.csv", delimiter=",")
    done = export(made_request([graded(one) for one in people], gradebook, title=semicolons))
    agree(done, course, {header: 4021})


def test_a_mark_of_byte_order_is_not_written() -> None:
    """Before a quoted header it is the end of the file."""
    course = canvas()
    marked = b"\xef\xbb\xbf" + rows_of("x,501,,,,9\n").replace(b"Student", b'"Student"')
    with pytest.raises(RefusedError, match="illegal quoting"):
        course.accepts(marked)

    done = export(made_request([graded(ANA)], like(course, bom=True)))
    assert done.files[0].data.startswith(b"Student")


def test_a_student_who_is_called_like_the_row_of_points_changes_none() -> None:
    """Canvas takes every row with these words in the first cell for it."""
    penny = Student(number=504, sortable_name="Points Possible, Penny", login="penny")
    course = canvas(penny, ANA)
    naive = rows_of('"Points Possible, Penny",504,,penny,Sec 1,7\n')
    assert course.accepts(naive).points == {4021: Decimal(7)}

    done = export(made_request([graded(penny, "7"), graded(ANA)], like(course)))
    assert said(done)["s504", "HW 1 (4021)"][0] is Action.SKIPPED
    agree(done, course, HW1)

    agree(export(made_request([graded(penny, "7")], title="HW 1")), course, {"HW 1": 4021})


def test_points_of_an_assignment_are_never_changed_with_a_gradebook() -> None:
    """They are copied; where they differ from the course's, that is told."""
    course = canvas()
    course.assignments[0].points = Decimal(100)
    naive = rows_of("    Points Possible,,,,,10\n")
    assert course.accepts(naive).points == {4021: Decimal(10)}

    done = export(made_request([graded(ANA)], like(course, mark=",", thousands=".")))
    agree(done, course, HW1)
    assert any("100 points in Canvas" in note and "10 here" in note for note in done.notes)
    assert not any("100 points" in note for note in export(made_request([graded(ANA)], like(canvas()))).notes)


def test_scores_are_compared_at_two_decimals() -> None:
    """9.4999 and 9.50 are the same to Canvas."""
    course = canvas()
    course.scores[501, 4021] = Decimal("9.4999")

    done = export(made_request([graded(ANA, "9.50")], like(course)))
    assert said(done)["s501", "HW 1 (4021)"][0] is Action.UNCHANGED
    agree(done, course, HW1)
    assert any("nothing changes" in note for note in done.notes)


def test_only_what_is_chosen_is_in_the_file() -> None:
    """Totals, other assignments and custom columns are as they are, whatever happens in between."""
    course = canvas()
    course.custom_columns = ("Notes",)
    done = export(made_request([graded(ANA)], like(course, manual_posting=True)))

    assert cells(done)[0] == [*HEAD.split(","), "HW 1 (4021)"]
    assert all(len(row) == 6 for row in cells(done))
    agree(done, course, HW1)


def test_people_whom_only_one_side_knows_are_told_and_not_sent() -> None:
    """Nobody is asked in Canvas's dialog who a student is."""
    course = canvas(ANA, BO)
    naive = rows_of('"Nobody, Nick",900,,,,5\n')
    assert course.accepts(naive).new_students == ["Nobody, Nick"]

    done = export(made_request([graded(ANA), made_grade("nick", first_name="Nick")], like(course)))

    told = {one.student: (one.action, one.reason) for one in done.changes}
    assert told["nick"] == (Action.SKIPPED, "the file has no row for them")
    assert told["Lindqvist, Bo"] == (Action.SKIPPED, "the course does not know them")
    assert told["Student, Test"] == (Action.SKIPPED, "Canvas's test student")
    agree(done, course, HW1)


def test_a_name_that_canvas_guards_is_copied_as_it_stands() -> None:
    """The row is found by its ID; the name is Canvas's own cell, guard and all."""
    eve = Student(number=505, sortable_name='=HYPERLINK("http://spy.test")', login="eve")
    course = canvas(eve)
    done = export(made_request([graded(eve)], like(course)))

    assert cells(done)[2][0] == '="=HYPERLINK("http://spy.test")"'
    agree(done, course, HW1)


GRADEBOOK = f"""{HEAD},HW 1 (1),HW 1 (2),Lab (3),Final Score
    Points Possible,,,,,10,10,(read only),(read only)
"Ruiz, Ana",501,S0001,aruiz,Sec 1,,,,
"""


@pytest.mark.parametrize(
    ("text", "title", "told"),
    [
        (GRADEBOOK, "HW 1", "line 1, column 7: columns 6 and 7 are both called 'HW 1'"),
        (
            GRADEBOOK,
            "HW 7",
            "no column for 'HW 7'. Name one with --column: 'HW 1 (1)', 'HW 1 (2)', 'Lab (3)'.",
        ),
        (GRADEBOOK, "Final Score", "no column for 'Final Score'"),
        (GRADEBOOK, "Lab", "line 2, column 8 (Lab (3)): Canvas ignores this column, which is read only"),
        (
            GRADEBOOK.replace(",501,", ",5.01E+02,"),
            "2",
            "line 3, column 2 (ID): '5.01E+02' is no ID of Canvas",
        ),
        (GRADEBOOK.replace(",501,", ",2024-001,"), "2", "line 3, column 2 (ID): '2024-001' is no ID"),
        (GRADEBOOK.replace(",501,", ",,"), "2", "line 3, column 2 (ID): the student has no ID"),
        (GRADEBOOK + "Li,501\n", "2", "line 4, column 2 (ID): line 3 has the ID 501 too"),
        (GRADEBOOK.replace('"Ruiz, Ana"', "Ruiz, Ana"), "2", "line 3, column 2 (ID): 'Ana' is no ID"),
        (GRADEBOOK.replace(",Sec 1,", ",Sec 1, and 2,"), "2", "line 3: has 10 cells, but the header has 9"),
        (GRADEBOOK.replace(",Section", ""), "2", "line 1: is no gradebook export of Canvas"),
        (GRADEBOOK.replace("Student,ID", "ID,Student"), "2", "line 1: is no gradebook export of Canvas"),
        (GRADEBOOK.replace("SIS Login ID", "Email"), "2", "line 1: the columns before Section"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_place(text: str, title: str, told: str) -> None:
    """One clear line: where, what, what to do; nothing is half exported."""
    with pytest.raises(CourseError) as caught:
        export(made_request([graded(ANA)], text, title=title))

    assert told in str(caught.value)


def test_a_percentage_is_one_of_the_points_possible_and_stays_it() -> None:
    """Beside a score that is sent it is written again, and Canvas reads the same as before."""
    course = canvas(ANA)
    course.assignments[1].points = Decimal(5)
    course.scores = {(501, 4022): Decimal("4.375")}
    assert course.accepts(rows_of('"Ruiz, Ana",501,,,S,"87,5%"\n')).applied == {(501, 4021): Decimal("8.75")}

    sheet = parse_sheet(
        f'{HEAD},HW 1 (4021),HW 1 extra (4022)\n"Ruiz, Ana",501,,,S,,"87,5%"\n'.encode(), "theirs.csv"
    )
    ana = graded(ANA)
    ana = replace(ana, parts=(ana.parts[0], replace(ana.parts[1], points=None)))
    columns = {"exercise1": "HW 1", "exercise2": "HW 1 extra"}
    done = export(made_request([ana], sheet, by_exercise=True, columns=columns))

    upload = course.accepts(done.files[0].data)
    assert (upload.applied, upload.unchanged) == ({(501, 4021): Decimal(4)}, {(501, 4022)})


@pytest.mark.parametrize(
    ("header", "row", "found"),
    [
        ("Student,ID,Section", "X,999,S0001", False),
        ("Student,ID,Section,Note", "X,999,,S0001", False),
        ("Student,ID,SIS Login ID,Section", "X,999,S0001,", False),
        ("Student,ID,SIS Login ID,Section", "X,999,aruiz,", True),
        ("Student,ID,SIS User ID,SIS Login ID,Section", "X,999,S0001,,", True),
    ],
)
def test_a_student_is_found_by_what_the_header_says_only(header: str, row: str, *, found: bool) -> None:
    """A section that is called like somebody's id is nobody."""
    course = canvas(ANA)
    course.custom_columns = ("Note",)

    upload = course.accepts(f"{header},HW 1 (4021)\n{row},9.50\n".encode())

    assert bool(upload.applied) == found
    assert upload.new_students == ([] if found else ["X"])


@pytest.mark.parametrize("kept", ["closed", "anonymous"])
def test_what_canvas_refuses_and_no_export_of_it_shows_is_told(kept: str) -> None:
    """A closed grading period, and an anonymous assignment before its grades are posted."""
    course = canvas(ANA)
    setattr(course.assignments[0], kept, True)
    done = export(made_request([graded(ANA)], like(course)))

    upload = course.accepts(done.files[0].data)
    assert (upload.applied, upload.warnings) == ({}, [f"{kept}: (501, 4021)"])
    assert any("closed" in note and "anonymous" in note for note in done.notes)
