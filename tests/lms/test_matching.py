"""Rows of an LMS's file find their student, or nobody; columns are found, or the choice is shown."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_grades import made_grade, made_person, made_request

from autograder.errors import CourseError
from autograder.lms.exports.columns import (
    Item,
    choose_items,
    decimal_mark,
    number_in,
    same_points,
    score_of,
    wanted,
)
from autograder.lms.exports.matching import Who, match_people, match_rows
from autograder.lms.exports.model import WHOLE
from autograder.lms.model import GradeState, IdKind, Lms, Person
from autograder.lms.sheets import parse_sheet


def whose(row: Person, *grades: object) -> str:
    """Return who one row is found to be about, or why nobody."""
    matches = match_people({1: row}, grades)  # type: ignore[arg-type]
    return matches.grades[1].student if matches.grades else matches.strangers[1]


def test_the_ids_of_this_lms_count_before_all_else() -> None:
    """A row with Ana's id is Ana, whatever its name says."""
    ana = made_grade("ana", people=(made_person(Lms.SAKAI, login="aruiz"),))
    ben = made_grade("ben", first_name="Ana", last_name="Ruiz", email="ana@school.test")
    row = made_person(Lms.SAKAI, "Ana Ruiz", login="aruiz")

    assert whose(row, ana, ben) == "ana"


def test_ids_of_another_lms_count_only_if_a_school_gives_them() -> None:
    """Number 7 in Canvas is somebody else than number 7 in Open edX; the registrar's number is the same."""
    ana = made_grade("ana", people=(made_person(Lms.CANVAS, user="7", sis="S01"),))

    assert "does not know" in whose(made_person(Lms.OPENEDX, user="7"), ana)
    assert whose(made_person(Lms.OPENEDX, sis="S01"), ana) == "ana"


def test_the_course_s_own_ids_count() -> None:
    """Folders are mostly named by the login; ``lms_user_id`` is nbgrader's own column for an LMS's id."""
    ana, ben = made_grade("ana"), made_grade("ben", lms_user_id="0042")

    assert whose(made_person(Lms.SAKAI, login="ana"), ana, ben) == "ana"
    assert whose(made_person(Lms.OPENEDX, user="0042"), ana, ben) == "ben"
    assert "does not know" in whose(made_person(Lms.OPENEDX, user="42"), ana, ben)
    assert "does not know" in whose(made_person(Lms.OPENEDX, user="ana"), ana, ben)


def test_addresses_that_differ_by_case_are_two_addresses_if_two_students_have_them() -> None:
    """Exact first; only then without case, and only if nobody else has it."""
    ana, ben = made_grade("ana", email="a.r@school.test"), made_grade("ben", email="A.R@school.test")

    assert whose(made_person(Lms.CANVAS, email="A.R@school.test"), ana, ben) == "ben"
    assert "ana, ben" in whose(made_person(Lms.CANVAS, email="a.R@school.test"), ana, ben)
    assert whose(made_person(Lms.CANVAS, email="a.R@school.test"), ana) == "ana"


@pytest.mark.parametrize(
    "name", ["Ruiz, Ana", "Ana Ruiz", "Ruiz Ana", "ana  ruiz", "Ana\N{NO-BREAK SPACE}Ruiz"]
)
def test_a_whole_name_that_one_student_has_counts(name: str) -> None:
    """LMSs turn names around."""
    ana, ben = made_grade("x1", first_name="Ana", last_name="Ruiz"), made_grade("x2", last_name="Ana")

    assert whose(made_person(Lms.SAKAI, name), ana, ben) == "x1"


def test_two_students_of_one_name_are_nobody() -> None:
    """A guess would give one's grade to the other."""
    twins = [made_grade(student, first_name="Li", last_name="Wei") for student in ("li1", "li2")]

    assert "li1, li2" in whose(made_person(Lms.SAKAI, "Li Wei"), *twins)


def test_a_name_does_not_count_against_an_id() -> None:
    """Two people of one name, only one of them in our course: the other's row is not theirs."""
    ana = made_grade(
        "ana", first_name="Ana", last_name="Ruiz", people=(made_person(Lms.SAKAI, login="aruiz"),)
    )
    row = made_person(Lms.SAKAI, "Ruiz, Ana", login="aruiz2")

    assert "'aruiz'" in whose(row, ana)


def test_a_name_does_not_count_against_an_address() -> None:
    """The other one may be in our course and not in the file."""
    ana = made_grade("ana", first_name="Ana", last_name="Ruiz", email="Ana@school.test")

    assert "ana@school.test" in whose(made_person(Lms.CANVAS, "Ana Ruiz", "ana.ruiz2@school.test"), ana)
    assert whose(made_person(Lms.CANVAS, "Ana Ruiz"), ana) == "ana"


ANA = made_grade(
    "a1",
    first_name="Ana",
    last_name="Ruiz",
    email="ana@school.test",
    people=(made_person(Lms.MOODLE, participant="5501", sis="S1", user="7"),),
)
BO = made_grade(
    "b2",
    first_name="Bo",
    last_name="Li",
    email="bo@school.test",
    people=(made_person(Lms.MOODLE, participant="5502"), made_person(Lms.CANVAS, sis="S2", login="bli")),
)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (made_person(Lms.MOODLE, "Bo Li", "bo@school.test", participant="5501"), "'ana@school.test'"),
        (made_person(Lms.MOODLE, "Ana Ruiz", "ana2@school.test", user="7"), "'ana@school.test'"),
        (made_person(Lms.MOODLE, "Ana Ruiz", user="7", sis="S9"), "their id is 'S1'"),
        (made_person(Lms.MOODLE, user="7", login="b2"), "'b2' is that of b2"),
        (made_person(Lms.MOODLE, participant="5502", sis="S1"), "a1, b2"),
        (made_person(Lms.MOODLE, participant="5502", sis="a1"), "'a1' is that of a1"),
        (made_person(Lms.MOODLE, user="7", login="bli"), "'bli' is that of b2"),
        (made_person(Lms.CANVAS, "", "BO@school.test", login="a1"), "'ana@school.test'"),
        (made_person(Lms.CANVAS, "", "bo@school.test", sis="S1", login="bo@school.test"), "is that of b2"),
    ],
)
def test_an_id_does_not_count_against_another_id_or_an_address(row: Person, told: str) -> None:
    """Numbers of another assignment, of another course or of a copied folder are other people's."""
    assert told in whose(row, ANA, BO)
    assert match_people({1: row}, [ANA, BO]).grades == {}


def test_a_login_that_looks_like_an_address_need_not_be_the_one_that_they_write_with() -> None:
    """At many schools people log in with one address and write with another."""
    row = made_person(Lms.CANVAS, "Ruiz, Ana", "ruiza@school.test", sis="S1", login="ruiza@school.test")

    assert whose(row, ANA, BO) == "a1"


def test_a_name_alone_and_another_name_are_told_and_matched() -> None:
    """People change their names, so it stops nobody; but somebody should look."""
    rows = {
        1: made_person(Lms.MOODLE, "Zoe Zed", participant="5501"),
        2: made_person(Lms.SAKAI, "Li, Bo", login="zz9"),
    }
    cem = made_grade("c3", first_name="José María", last_name="Cem")
    rows[3] = made_person(Lms.SAKAI, "Cem, Jose", login="c3")
    matches = match_people(rows, [ANA, BO, cem])

    assert {row: grade.student for row, grade in matches.grades.items()} == {1: "a1", 2: "b2", 3: "c3"}
    (alone,) = [note for note in matches.notes if "name alone" in note]
    (other,) = [note for note in matches.notes if "otherwise" in note]
    assert "b2 (line 2)" in alone
    assert "a1 is 'Zoe Zed' (line 1)" in other
    assert not any(student in alone + other for student in ("c3", "Cem"))


def test_ids_that_name_two_students_are_nobody() -> None:
    """A file whose ids were sorted apart from each other must not be believed."""
    ana = made_grade("ana", people=(made_person(Lms.CANVAS, user="1", sis="S1"),))
    ben = made_grade("ben", people=(made_person(Lms.CANVAS, user="2", sis="S2"),))

    assert "ana, ben" in whose(made_person(Lms.CANVAS, user="1", sis="S2"), ana, ben)


def test_two_rows_of_one_student_are_both_left_alone() -> None:
    """Nobody knows which one counts; one that fits better does."""
    ana = made_grade("ana", first_name="Ana", last_name="Ruiz")
    by_name, by_id = made_person(Lms.SAKAI, "Ana Ruiz"), made_person(Lms.SAKAI, login="ana")

    twice = match_people({1: by_name, 2: by_name}, [ana])
    assert (twice.grades, len(twice.strangers), len(twice.left)) == ({}, 2, 1)
    assert "several rows" in twice.left[0][1]

    once = match_people({1: by_name, 2: by_id}, [ana])
    assert (list(once.grades), "better" in once.strangers[1], once.left) == ([2], True, ())


NAMES = st.sampled_from(["Ana Ruiz", "Ruiz, Ana", "Bo", "Li Wei", ""])
IDS = st.sampled_from(["a", "b", "c", "1", ""])
ROWS = st.builds(lambda name, login, sis: made_person(Lms.SAKAI, name, login=login, sis=sis), NAMES, IDS, IDS)


@given(
    rows=st.lists(ROWS, max_size=5),
    names=st.dictionaries(st.sampled_from("abcd"), NAMES, max_size=4),
    known=st.dictionaries(st.sampled_from("abcd"), IDS, max_size=4),
)
def test_every_row_and_every_student_is_accounted_for_once(
    rows: list[Person], names: dict[str, str], known: dict[str, str]
) -> None:
    """Nobody gets two grades, nobody is silently dropped, and who is matched has no other id."""
    grades = [
        made_grade(student, first_name=name, people=(made_person(Lms.SAKAI, login=known.get(student, "")),))
        for student, name in names.items()
    ]
    matches = match_people(dict(enumerate(rows, 1)), grades)

    assert sorted([*matches.grades, *matches.strangers]) == list(range(1, len(rows) + 1))
    students = [grade.student for grade in matches.grades.values()]
    assert sorted(students + [grade.student for grade, _ in matches.left]) == sorted(names)
    for row, grade in matches.grades.items():
        login, theirs = rows[row - 1].ids[IdKind.LOGIN], known.get(grade.student, "")
        sis = rows[row - 1].ids[IdKind.SIS]
        assert "" in {login, theirs} or login == theirs or grade.student in {login, sis}


def test_a_row_s_ids_are_read_without_what_the_lms_writes_around_them() -> None:
    """Brightspace writes ``#`` before ids."""
    sheet = parse_sheet(b"Id,Mail,Name\n#007,,\n,a@b.test,\n", "theirs.csv")
    who = Who(
        lms=Lms.BRIGHTSPACE,
        ids={IdKind.SIS: 0},
        email=1,
        name=2,
        clean=lambda cell: cell.strip().removeprefix("#"),
    )

    matches = match_rows(sheet, who, (1, 2), [made_grade("007"), made_grade("b", email="A@b.test")])

    assert {row: grade.student for row, grade in matches.grades.items()} == {1: "007", 2: "b"}


SHEET = parse_sheet(b"Who,HW 1 (11),HW 1 (12),HW 2 (13)\nana,,9.50,4\n", "theirs.csv")
ITEMS = [
    Item(column=at, header=header, title=header.split(" (")[0], key=header[-3:-1])
    for at, header in enumerate(SHEET.header)
    if at
]


def test_a_column_is_found_by_title_header_or_key() -> None:
    """Whatever the instructor calls it, if only one is called so."""
    for name in ("HW 2", "HW 2 (13)", "13"):
        chosen = choose_items(made_request([made_grade("ana")], columns={WHOLE: name}), SHEET, ITEMS)
        assert chosen[WHOLE].column == 3


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, ("columns 2 and 3 are both called 'HW 1'", "whole header")),
        ({WHOLE: "HW 7"}, ("no column for 'HW 7'", "'HW 1 (11)', 'HW 1 (12)', 'HW 2 (13)'")),
        ({"exercise1": "HW 2"}, ("the whole score is exported", "'exercise1'")),
    ],
)
def test_a_column_that_is_not_clear_is_asked_for(columns: dict[str, str], words: tuple[str, str]) -> None:
    """One clear line, with what there is to choose from."""
    with pytest.raises(CourseError) as caught:
        choose_items(made_request([made_grade("ana")], columns=columns), SHEET, ITEMS)

    assert all(word in str(caught.value) for word in words)


def test_each_notebook_has_a_column_of_its_own() -> None:
    """Two notebooks in one column would overwrite each other."""
    request = made_request([made_grade("ana")], by_exercise=True)
    both = {"exercise1": "11", "exercise2": "12"}

    chosen = choose_items(made_request(request.grades, by_exercise=True, columns=both), SHEET, ITEMS)
    assert {key: item.column for key, item in chosen.items()} == {"exercise1": 1, "exercise2": 2}
    assert wanted(request) == {"exercise1": "exercise1", "exercise2": "exercise2"}
    for wrong in ({"exercise1": "11", "exercise2": "11"}, both | {"exercise3": "13"}):
        with pytest.raises(CourseError, match=r"exercise[12]"):
            choose_items(made_request(request.grades, by_exercise=True, columns=wrong), SHEET, ITEMS)


def test_only_graded_work_has_a_number() -> None:
    """Missing is no zero unless the instructor says so; excused and ungraded never are."""
    states = {state: made_grade("ana", state) for state in GradeState if state is not GradeState.GRADED}
    request, as_zero = made_request([]), made_request([], missing_as_zero=True)

    for state, grade in states.items():
        for key in (WHOLE, "exercise2"):
            assert score_of(request, grade, key).points is None
            assert score_of(request, grade, key).reason
            zero = score_of(as_zero, grade, key)
            assert zero.text() == ("0" if state is GradeState.MISSING else "")
    scores = [score_of(request, made_grade("ana", "8.25"), key) for key in (WHOLE, "exercise1", "exercise2")]
    assert [score.text() for score in scores] == ["8.25", "4", "4.25"]
    assert scores[0].text(",") == "8,25"


@given(st.decimals(-10_000, 10_000, places=2), st.sampled_from(".,"))
def test_a_number_is_read_as_it_was_written(points: Decimal, mark: str) -> None:
    """With either mark, with as many decimals as there are."""
    text = f"{points:.2f}".replace(".", mark)

    assert number_in(text) == points
    assert same_points(f" {text} ", points)
    assert not same_points(text, points + Decimal("0.01"))


def test_what_is_no_number_is_none() -> None:
    """An excuse, a letter, a formula and digits of other scripts are no points."""
    for cell in ("", "-", "EX", "N/A", "1e3", "=1", "٣", "1 2", ".", "nan"):
        assert number_in(cell) is None
    assert number_in("1.234,50") == Decimal("1234.50")
    assert (
        number_in("1\N{NO-BREAK SPACE}234,50")
        == number_in("1\N{RIGHT SINGLE QUOTATION MARK}234.5")
        == Decimal("1234.50")
    )
    assert number_in("-,5") == Decimal("-0.5")


def test_the_decimal_mark_is_the_file_s() -> None:
    """What an LMS writes is what it reads; a file with both marks is not guessed at."""

    def mark(text: str, asked: str = "") -> str:
        return decimal_mark(parse_sheet(text.encode(), "theirs.csv"), (1,), asked=asked).sign

    assert decimal_mark(None).sign == "."
    assert mark("who\tHW\nana\t9.5\n") == "."
    assert mark("who\tHW\nana\t9,5\nben\t7\n") == ","
    assert mark("who;HW\nana;\n") == ","
    assert mark("who\tHW\nana\t1.234,50\n") == mark("who\tHW\nana\t1 234,5\n") == ","
    assert mark("who\tHW\nana\t1,234.50\n") == mark("who\tHW\nana\t1.234.567\n") == "."
    assert mark("who;HW\nana;9.5\n") == "."
    assert mark("who\tHW\nana\t9,5\nben\t7.5\n", ",") == ","
    with pytest.raises(CourseError, match="line 3, column 2"):
        mark("who\tHW\nana\t9,5\nben\t7.5\n")
    with pytest.raises(CourseError, match="no decimal mark"):
        mark("who\tHW\n", "'")


@pytest.mark.parametrize(
    ("text", "asked", "told"),
    [
        ("who\tHW\nana\t1.234,50\n", "", "decimal comma, as in your file"),
        ("who\tHW\nana\t9.5\n", "", "decimal point, as in your file"),
        ("who\tHW\nana\t9\n", "", "decimal point, which is assumed"),
        ("who;HW\nana;9\n", "", "decimal comma, as the cells"),
        ("who\tHW\nana\t9.5\n", ",", "decimal comma, as you said"),
    ],
)
def test_the_decimal_mark_is_told_with_its_reason(text: str, asked: str, told: str) -> None:
    """A site in another language would read other numbers."""
    mark = decimal_mark(parse_sheet(text.encode(), "theirs.csv"), (1,), asked=asked)

    assert told in mark.note(Lms.BLACKBOARD)
    assert f"else say --set decimal={'.' if mark.sign == ',' else ','} here" in mark.note(Lms.BLACKBOARD)
