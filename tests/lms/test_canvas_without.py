"""Without a gradebook export, the file for Canvas is made of what the course knows."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from canvas_courses import ANA, BO, JL, agree, canvas, cells, graded
from canvas_importer import Assignment, Student
from made_grades import made_grade, made_person, made_request

from autograder.errors import CourseError
from autograder.lms.exports.canvas import export
from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.model import GradeState, Lms


def test_students_are_named_by_their_canvas_id() -> None:
    """Who has none is told; a name cannot lead to somebody else."""
    ana = Student(number=777, sortable_name="Ruiz, Ana")
    course = canvas(ana, BO)
    naive = b'Student,ID,Section,HW 1\n    Points Possible,,,10\n"Ruiz, Ana",501,,9.5\n'
    assert course.accepts(naive).applied == {(777, 4021): Decimal("9.5")}

    done = export(
        made_request([graded(ANA), graded(BO, "4"), made_grade("cleo"), graded(JL, GradeState.MISSING)])
    )

    upload = course.accepts(done.files[0].data)
    assert upload.applied == {(502, 4021): Decimal(4)}
    assert upload.new_students == ["Ruiz, Ana (501)"]
    told = {one.student: (one.action, one.reason) for one in done.changes}
    assert told["cleo"][0] is told["s503"][0] is Action.SKIPPED
    assert "--roster" in told["cleo"][1]
    assert told["s503"][1] == "nothing was handed in"
    assert any("must be ignored in its dialog" in note for note in done.notes)


def test_a_number_says_which_assignment_and_leaves_its_points() -> None:
    """A title alone may make a new assignment, and gives it points; both are told."""
    course = canvas()
    course.assignments[0].points = Decimal(100)

    by_title = export(made_request([graded(ANA)]))
    assert course.accepts(by_title.files[0].data).points == {4021: Decimal(10)}
    assert any("gets 10.00 points from the file" in note for note in by_title.notes)
    other = export(made_request([graded(ANA)], title="HW 9"))
    assert course.accepts(other.files[0].data).new_assignments == ["HW 9"]
    course.assignments[0].published = False
    assert course.accepts(by_title.files[0].data).new_assignments == ["HW 1"]

    course = canvas()
    course.assignments[0].points = Decimal(100)
    by_number = export(made_request([graded(ANA)], columns={WHOLE: "anything (4021)"}))
    assert course.accepts(by_number.files[0].data).is_clean
    assert not any("new one" in note for note in by_number.notes)


@pytest.mark.parametrize("title", ["Section", "ID", " ", "1.2.3", "1,5", "two\nlines", "Final Grade"])
def test_a_title_that_canvas_misreads_is_refused(title: str) -> None:
    """It would be rewritten, ignored or taken for who a student is."""
    with pytest.raises(CourseError, match=r"--title.*4021"):
        export(made_request([graded(ANA)], title=title))


def test_ids_must_be_numbers_and_one_student_s() -> None:
    """Canvas reads the digits at the beginning of an ID: 2024-001 is student 2024."""
    someone = Student(number=2024, sortable_name="Else, Some")
    course = canvas(someone)
    naive = b'Student,ID,Section,HW 1\n    Points Possible,,,10\n"Ruiz, Ana",2024-001,,9.5\n'
    assert course.accepts(naive).applied == {(2024, 4021): Decimal("9.5")}

    person = made_person(Lms.CANVAS, user="2024-001")
    twins = [replace(graded(BO), student=name) for name in ("bo1", "bo2")]
    done = export(made_request([made_grade("ana", people=(person,)), *twins]))

    assert not course.accepts(done.files[0].data).applied
    assert {one.action for one in done.changes} == {Action.SKIPPED}
    assert "several students have the Canvas id 502" in done.changes[-1].reason
    assert "Nothing is sent, so there is nothing to import." in done.notes


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(1)", "\tx"])
def test_no_name_runs_in_a_spreadsheet(name: str) -> None:
    """The name is there for people only, so it may have an apostrophe."""
    done = export(made_request([graded(Student(number=501, sortable_name=name))]))

    assert cells(done)[2][0].startswith("'")


def test_each_exercise_has_a_column_of_its_own() -> None:
    """Without a gradebook they are named by the notebooks, with what each is worth."""
    grades = [graded(ANA), graded(BO, GradeState.EXCUSED)]
    done = export(made_request(grades, by_exercise=True))

    assert [row[3:] for row in cells(done)] == [
        ["exercise1", "exercise2"],
        ["4.00", "6.00"],
        ["4.00", "5.50"],
        ["EX", "EX"],
    ]
    course = canvas()
    course.assignments = [
        Assignment(number=at, title=f"exercise{at}", points=Decimal(2 + 2 * at)) for at in (1, 2)
    ]
    agree(done, course, {"exercise1": 1, "exercise2": 2})
    with pytest.raises(CourseError, match="two notebooks"):
        export(made_request(grades, by_exercise=True, columns={"exercise1": "exercise2"}))


def test_comments_that_canvas_cannot_take_are_told() -> None:
    """Who asked for them would look for them in vain."""
    assert not any("comments" in note for note in export(made_request([graded(ANA)])).notes)
    asked = export(made_request([graded(ANA)], comments=True))
    assert any("No comments are sent" in note and "push canvas" in note for note in asked.notes)
