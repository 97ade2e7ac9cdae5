"""Grades and requests for exports, made up in one line each."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from autograder.lms.exports.model import Request
from autograder.lms.model import Grade, GradeState, IdKind, Lms, Part, Person
from autograder.lms.sheets import parse_sheet
from autograder.scores import NOT_YET, CellScore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autograder.lms.sheets import Sheet

NOW = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
MAXIMA = {"exercise1": Decimal(4), "exercise2": Decimal(6)}
"""Points of the notebooks of every grade made here; they add up to 10."""

REASONS = {
    GradeState.GRADED: "",
    GradeState.MISSING: "nothing was handed in",
    GradeState.EXCUSED: "excused",
    GradeState.UNGRADED: NOT_YET,
}


def made_person(lms: Lms, name: str = "", email: str = "", **ids: str) -> Person:
    """Return a person of an LMS; ids by the names of `IdKind` in lower case."""
    return Person(lms=lms, name=name, email=email, ids={IdKind(kind): value for kind, value in ids.items()})


def made_grade(student: str, points: str | GradeState = "9.5", **details: Any) -> Grade:
    """Return a grade with that many points of 10, or a state without a number."""
    state = points if isinstance(points, GradeState) else GradeState.GRADED
    number = None if isinstance(points, GradeState) else Decimal(points)
    first = None if number is None else min(number, MAXIMA["exercise1"])
    rest = None if number is None or first is None else number - first
    parts = tuple(
        Part(name=name, points=earned, max_points=max_points)
        for (name, max_points), earned in zip(MAXIMA.items(), (first, rest), strict=True)
    )
    known = {"cells": tuple(_cell(part) for part in parts), "reason": REASONS[state]} | details
    return Grade(student=student, state=state, points=number, max_points=Decimal(10), parts=parts, **known)


def _cell(part: Part) -> CellScore:
    """Return the only graded cell of a notebook."""
    return CellScore(
        notebook=part.name,
        grade_id=f"test_{part.name}",
        max_score=part.max_points,
        auto_score=part.points,
    )


def made_request(grades: Iterable[Grade], like: Sheet | str | None = None, **details: Any) -> Request:
    """Return a request for the assignment ``hw1``, which the LMS calls HW 1; a file is given as its text."""
    sheet = parse_sheet(like.encode(), "theirs.csv") if isinstance(like, str) else like
    known: dict[str, Any] = {"assignment": "hw1", "title": "HW 1", "now": NOW, "notebooks": tuple(MAXIMA)}
    return Request(grades=tuple(sorted(grades, key=lambda one: one.student)), like=sheet, **known | details)
