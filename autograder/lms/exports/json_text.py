"""
Grades as JSON, for programs; docs/integrator/grades.schema.json describes the shape.

Points are strings, so that no program rounds them, and null where there is no number.
A shape that a reader of version 1 could misunderstand gets another version.
"""

from __future__ import annotations

import json
from datetime import UTC
from typing import TYPE_CHECKING, Any

from autograder.lms.exports.columns import score_of
from autograder.lms.exports.csv_table import SCORE
from autograder.lms.exports.filling import sent
from autograder.lms.exports.model import Export, File
from autograder.lms.model import points_text

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from autograder.lms.exports.model import Request
    from autograder.lms.model import Grade, Person
    from autograder.scores import CellScore

NAME, VERSION = "autograder-grades", 1


def export(request: Request) -> Export:
    """
    Make the document.

    Parameters
    ----------
    request : Request
        What is asked for.

    Returns
    -------
    Export
        One JSON file in ASCII, and who has no score.
    """
    first = request.grades[0] if request.grades else None
    document = {
        "format": NAME,
        "version": VERSION,
        "assignment": request.assignment,
        "title": request.title,
        "exported_at": _moment(request.now),
        "max_points": None if first is None else points_text(first.max_points),
        "notebooks": [
            {"name": part.name, "max_points": points_text(part.max_points)}
            for part in (first.parts if first is not None else ())
        ],
        "grades": [_grade(request, grade) for grade in request.grades],
    }
    # ASCII with escapes, so that half a character of a file's name does no harm.
    data = (json.dumps(document, indent=1, allow_nan=False) + "\n").encode("ascii")
    return Export(
        files=(File(name=f"{request.assignment}.json", data=data),),
        changes=tuple(sent(grade.student, SCORE, score_of(request, grade)) for grade in request.grades),
    )


def _grade(request: Request, grade: Grade) -> dict[str, Any]:
    score = score_of(request, grade)
    return {
        "student": grade.student,
        "first_name": grade.first_name,
        "last_name": grade.last_name,
        "email": grade.email,
        "lms_user_id": grade.lms_user_id,
        "people": [_person(person) for person in grade.people],
        "state": grade.state.value,
        "reason": score.reason,
        "points": _points(score.points),
        "max_points": points_text(grade.max_points),
        "penalty": str(grade.penalty),
        "submitted_at": None if grade.submitted_at is None else _moment(grade.submitted_at),
        "late_s": grade.late_s,
        "comment": grade.comment,
        "notebooks": [
            {
                "name": part.name,
                "points": _points(score_of(request, grade, part.name).points),
                "max_points": points_text(part.max_points),
            }
            for part in grade.parts
        ],
        "cells": [_cell(cell) for cell in grade.cells],
    }


def _person(person: Person) -> dict[str, Any]:
    return {
        "lms": person.lms.value,
        "name": person.name,
        "first_name": person.first_name,
        "last_name": person.last_name,
        "email": person.email,
        "ids": {kind.value: value for kind, value in person.ids.items()},
        "sections": list(person.sections),
    }


def _cell(cell: CellScore) -> dict[str, Any]:
    return {
        "notebook": cell.notebook,
        "grade_id": cell.grade_id,
        "score": str(cell.score) if cell.has_score else None,
        "auto_score": None if cell.auto_score is None else str(cell.auto_score),
        "manual_score": None if cell.manual_score is None else str(cell.manual_score),
        "extra_credit": None if cell.extra_credit is None else str(cell.extra_credit),
        "max_score": str(cell.max_score),
        "manual": cell.manual,
        "needs_manual_grade": cell.needs_manual_grade,
    }


def _points(points: Decimal | None) -> str | None:
    return None if points is None else points_text(points)


def _moment(moment: datetime) -> str:
    """Return a time in UTC; what the gradebook has is in UTC and does not say so."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.isoformat(timespec="seconds").replace("+00:00", "Z")
