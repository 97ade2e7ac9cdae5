"""The file for Canvas is taken whole, does what was said of it, and walks into no trap."""

from __future__ import annotations

from decimal import Decimal

from canvas_courses import ANA, BO, JL, agree, canvas, cells, graded, like, said
from canvas_importer import Assignment, Canvas, Student, Style
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_grades import made_request
from nasty import NAMES, POINTS, TEXTS

from autograder.lms.exports.canvas import export
from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.model import Grade, GradeState
from autograder.lms.sheets import parse_sheet

EXCUSED, MISSING, UNGRADED = GradeState.EXCUSED, GradeState.MISSING, GradeState.UNGRADED


def test_scores_go_into_the_rows_that_canvas_knows() -> None:
    """What is there is told apart from what is new, and each row says who it is as Canvas said it."""
    course = canvas(aruiz="4.5", blind="9.5")
    done = export(made_request([graded(ANA), graded(BO), graded(JL, "7.25")], like(course)))

    assert said(done) == {
        ("s501", "HW 1 (4021)"): (Action.APPLIED, "4.50", "9.50"),
        ("s502", "HW 1 (4021)"): (Action.UNCHANGED, "9.50", "9.50"),
        ("s503", "HW 1 (4021)"): (Action.APPLIED, "", "7.25"),
        ("Student, Test", "HW 1 (4021)"): (Action.SKIPPED, "", ""),
    }
    assert cells(done) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "HW 1 (4021)"],
        ["    Points Possible", "", "", "", "", "10.00"],
        ["Ruiz, Ana", "501", "S0001", "aruiz", "Sec 1", "9.50"],
        ["Lindqvist, Bo", "502", "S0002", "blind", "Sec 1", "9.50"],
        ["Müller, Jean-Luc", "503", "2024.001.17", "jl@school.test", "Sec 1", "7.25"],
    ]
    agree(done, course, {"HW 1 (4021)": 4021})


STATES = st.sampled_from([*GradeState])
NUMBERS = st.integers(1, 10**19)


@st.composite
def courses(draw: st.DrawFn) -> tuple[Canvas, list[Grade]]:
    """Draw a course with nasty names, titles and scores, and grades of most of its students and of others."""
    numbers = draw(st.lists(NUMBERS, min_size=1, max_size=5, unique=True))
    students = [
        Student(
            number=number,
            sortable_name=draw(NAMES),
            name=draw(NAMES),
            sis_id=draw(TEXTS),
            login=draw(TEXTS),
            section=draw(TEXTS),
        )
        for number in numbers
    ]
    titles = draw(st.lists(NAMES, min_size=2, max_size=3, unique=True))
    course = Canvas(
        students=students,
        assignments=[
            Assignment(number=4000 + at, title=title, points=draw(POINTS), without=draw(without(numbers)))
            for at, title in enumerate(titles)
        ],
        custom_columns=draw(st.sampled_from([(), ("Notes",), ("Team, old", "Notes")])),
        split_names=draw(st.booleans()),
    )
    value = st.one_of(st.none(), POINTS, st.just("EX"))
    for student in students:
        for one in course.assignments:
            if student.number not in one.without:
                course.scores[student.number, one.number] = draw(value)
    known = draw(st.lists(st.sampled_from([*numbers, 7 * 10**20]), unique=True))
    states = {number: draw(st.one_of(STATES, POINTS)) for number in known}
    return course, [
        graded(Student(number=number, sortable_name="x"), str(one) if isinstance(one, Decimal) else one)
        for number, one in states.items()
    ]


def without(numbers: list[int]) -> st.SearchStrategy[frozenset[int]]:
    """Return who does not have an assignment: mostly nobody."""
    return st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(numbers), max_size=1))


STYLES = st.builds(
    Style,
    separator=st.sampled_from(",;"),
    mark=st.sampled_from(".,"),
    thousands=st.sampled_from(["", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"]),
    bom=st.booleans(),
    manual_posting=st.booleans(),
)


@settings(max_examples=50)
@given(drawn=courses(), style=STYLES, zero=st.booleans(), clear=st.booleans(), by_exercise=st.booleans())
def test_canvas_does_what_was_said_and_nothing_else(
    drawn: tuple[Canvas, list[Grade]], style: Style, *, zero: bool, clear: bool, by_exercise: bool
) -> None:
    """Whatever people and assignments are called, and in whatever language the gradebook was exported."""
    course, grades = drawn
    assume(grades)
    chosen = course.assignments[: 2 if by_exercise else 1]
    keys = ["exercise1", "exercise2"] if by_exercise else [WHOLE]
    details = {
        "columns": {key: one.header for key, one in zip(keys, chosen, strict=True)},
        "by_exercise": by_exercise,
        "missing_as_zero": zero,
        "options": {"clear": "yes"} if clear else {},
    }
    before = dict(course.scores)

    done = export(made_request(grades, parse_sheet(course.export(style), "gradebook.csv"), **details))
    agree(done, course, {one.header: one.number for one in chosen})

    course.apply(course.accepts(done.files[0].data))
    for (student, number), value in before.items():
        touched = course.scores[student, number] != value
        assert not touched or number in {one.number for one in chosen}
        if touched and course.scores[student, number] is None:
            assert clear
    again = export(made_request(grades, parse_sheet(course.export(style), "gradebook.csv"), **details))
    assert {one.action for one in again.changes} <= {Action.UNCHANGED, Action.SKIPPED}
    assert not course.accepts(again.files[0].data).applied
