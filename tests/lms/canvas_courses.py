"""Courses in Canvas, and what an export says that Canvas will do with them."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from canvas_importer import Assignment, Canvas, Student, Style, Value
from made_grades import made_grade, made_person

from autograder.lms.exports.model import Action
from autograder.lms.model import Lms
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from autograder.lms.exports.model import Export
    from autograder.lms.model import Grade, GradeState
    from autograder.lms.sheets import Sheet

ANA = Student(number=501, sortable_name="Ruiz, Ana", name="Ana Ruiz", sis_id="S0001", login="aruiz")
BO = Student(number=502, sortable_name="Lindqvist, Bo", name="Bo Lindqvist", sis_id="S0002", login="blind")
JL = Student(number=503, sortable_name="Müller, Jean-Luc", sis_id="2024.001.17", login="jl@school.test")
TEST = Student(number=599, sortable_name="Student, Test", login="9f3a")


def canvas(*students: Student, **scores: str) -> Canvas:
    """Return a course with two assignments; scores of the first by login."""
    values: dict[str, Value] = {
        name: Decimal(text) if text[0].isdigit() else text for name, text in scores.items()
    }
    return Canvas(
        students=[*(students or (ANA, BO, JL)), TEST],
        assignments=[
            Assignment(number=4021, title="HW 1"),
            Assignment(number=4022, title="HW 1 extra", points=Decimal(5)),
        ],
        scores={(one.number, 4021): values[one.login] for one in students or (ANA, BO) if one.login in values}
        | {(501, 4022): Decimal("3.25")},
    )


def like(course: Canvas, **style: Any) -> Sheet:
    """Return the course's own export."""
    return parse_sheet(course.export(Style(**style)), "gradebook.csv")


def graded(student: Student, points: str | GradeState = "9.5", **details: Any) -> Grade:
    """Return a grade of a student whom the course knows by the Canvas id."""
    person = made_person(Lms.CANVAS, student.sortable_name, user=str(student.number))
    return made_grade(f"s{student.number}", points, people=(person,), **details)


def said(done: Export) -> dict[tuple[str, str], tuple[Action, str, str]]:
    """Return what an export says that Canvas will do, by student and column."""
    told = {(one.student, one.column): (one.action, one.before, one.after) for one in done.changes}
    assert len(told) == len(done.changes)
    return told


def cells(done: Export) -> list[list[str]]:
    """Return the file's cells."""
    return list(csv.reader(io.StringIO(done.files[0].data.decode(), newline="")))


def agree(done: Export, course: Canvas, headers: dict[str, int]) -> None:
    """Check that Canvas does what was said and nothing else; students are called by their number."""
    upload = course.accepts(done.files[0].data)
    assert upload.separator == ","
    assert upload.is_clean, upload
    ours = [one for one in done.changes if re.fullmatch("s[0-9]+", one.student)]
    will = {(int(one.student[1:]), headers[one.column]): one for one in ours}
    for place, change in will.items():
        if change.action is Action.APPLIED:
            value = Decimal(change.after) if change.after != "EX" else "EX"
            assert upload.applied.pop(place) == value
        elif change.action is Action.CLEARED:
            assert upload.applied.pop(place) is None
        elif change.action is Action.UNCHANGED:
            assert place in upload.unchanged
    assert upload.applied == {}
