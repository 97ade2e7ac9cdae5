"""What stands in the gradebook's columns, as the kit counts with it."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from autograder.scores import CellScore

if TYPE_CHECKING:
    from sqlalchemy.engine import Row

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - nbgrader stores naive times, in UTC


def decimal(value: float | None) -> Decimal | None:
    """Return a stored number without what binary floating point adds to it."""
    return None if value is None else Decimal(repr(float(value)))


def counted(auto_score: float | None, grade: Row[Any] | None) -> Decimal:
    """
    Return what a cell counts.

    Parameters
    ----------
    auto_score : float or None
        What the grader gave.
    grade : Row or None
        The cell's row, with what a person gave.

    Returns
    -------
    Decimal
        Points.
    """
    manual, extra = (None, None) if grade is None else (grade.manual_score, grade.extra_credit)
    cell = CellScore(
        notebook="",
        grade_id="",
        max_score=Decimal(0),
        auto_score=decimal(auto_score),
        manual_score=decimal(manual),
        extra_credit=decimal(extra),
    )
    return cell.score


def interval(extension: datetime | timedelta | None) -> timedelta | None:
    """
    Return a stored extension.

    Parameters
    ----------
    extension : datetime or timedelta or None
        What stands in the column. SQLite has no intervals; there SQLAlchemy
        keeps one as a time since 1970.

    Returns
    -------
    timedelta or None
        The extension; None if there is none.
    """
    return extension - EPOCH if isinstance(extension, datetime) else extension


def seconds_late(
    timestamp: datetime | None, extension: datetime | timedelta | None, due: datetime | None
) -> float:
    """
    Return how long after the due date and the student's extension something was handed in.

    Parameters
    ----------
    timestamp : datetime or None
        When it was handed in.
    extension : datetime or timedelta or None
        The student's, as it is stored.
    due : datetime or None
        When it should have been handed in.

    Returns
    -------
    float
        Seconds; 0 if it was in time, or if either time is not known.
    """
    if timestamp is None or due is None:
        return 0.0
    return max((timestamp - due - (interval(extension) or timedelta())).total_seconds(), 0.0)
