"""Grades for an assignment in Moodle, and what an export says that an upload will do."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from made_grades import made_grade, made_person

from autograder.lms.exports.model import Action
from autograder.lms.model import Lms
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from moodle_worksheet_importer import Assignment

    from autograder.lms.exports.model import Export
    from autograder.lms.model import Grade, GradeState
    from autograder.lms.sheets import Sheet

NOT_READ = 1_803_895_500
"""A time with full minutes: an English date of it is not older than itself."""


def like(assignment: Assignment) -> Sheet:
    """Return what Moodle gives out."""
    return parse_sheet(assignment.worksheet(), "worksheet.csv")


def graded(number: int, points: str | GradeState = "9.5", **details: Any) -> Grade:
    """Return a grade of a student whose number in the assignment the course knows."""
    person = made_person(Lms.MOODLE, participant=str(number))
    return made_grade(f"s{number}", points, people=(person,), **details)


def agree(done: Export, assignment: Assignment) -> None:
    """Check that an upload does what was said; students are called by their number."""
    upload = assignment.accepts(done.files[0].data, even_newer=True)
    said = {
        int(one.student[1:]): Decimal(one.after.replace(",", "."))
        for one in done.changes
        if one.action is Action.APPLIED
    }
    assert upload.grades == said
    assert not upload.skipped
    told = [note for note in done.notes if note.startswith("Moodle will say")]
    grades, comments = len(upload.grades), len(upload.comments)
    counts = f"{grades} grade{'s' * (grades != 1)} and {comments} feedback comment{'s' * (comments != 1)}"
    assert told in ([f"Moodle will say that it updated {counts}."], [])
    assert told or not (grades or comments)
