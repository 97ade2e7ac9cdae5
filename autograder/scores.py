"""Scores as the gradebook holds them: frozen records for reports and exports."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


NOT_YET = "handed in, but not graded yet"
"""The reason why there is no score, if nobody has graded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellScore:
    """
    A student's score in one graded cell.

    Parameters
    ----------
    notebook, grade_id : str
        Where the cell is.
    max_score : Decimal
        Its points.
    auto_score, manual_score, extra_credit : Decimal or None
        What the grader gave, what a person gave, and what a person added.
    needs_manual_grade : bool
        True while a person must look at it.
    manual : bool
        True if a person grades it, False if the grader does.
    """

    notebook: str
    grade_id: str
    max_score: Decimal
    auto_score: Decimal | None = None
    manual_score: Decimal | None = None
    extra_credit: Decimal | None = None
    needs_manual_grade: bool = False
    manual: bool = False

    @property
    def has_score(self) -> bool:
        """True once the grader or a person has given it points."""
        return self.auto_score is not None or self.manual_score is not None

    @property
    def score(self) -> Decimal:
        """The manual score if there is one, else the automatic one, plus extra credit."""
        given = self.manual_score if self.manual_score is not None else self.auto_score
        return Decimal(0) if given is None else given + (self.extra_credit or Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentScore:
    """
    A student's scores in one assignment.

    Parameters
    ----------
    student : str
        The student's id.
    first_name, last_name, email, lms_user_id : str
        From the gradebook; may be empty.
    submitted : bool
        False if nothing was handed in.
    timestamp : datetime or None
        When it was handed in: naive, in UTC.
    seconds_late : float
        Seconds after the due date and the student's extension; 0 if in time.
    penalty : Decimal
        Points taken off for that.
    cells : tuple of CellScore
        One for each graded cell of the assignment.
    """

    student: str
    first_name: str
    last_name: str
    email: str
    lms_user_id: str
    submitted: bool
    timestamp: datetime | None
    seconds_late: float
    penalty: Decimal
    cells: tuple[CellScore, ...]

    @property
    def raw_score(self) -> Decimal:
        """Points in all cells, before the penalty."""
        return sum((cell.score for cell in self.cells), Decimal(0))

    @property
    def score(self) -> Decimal:
        """Points after the penalty, at least 0."""
        return max(self.raw_score - self.penalty, Decimal(0))

    @property
    def is_whole(self) -> bool:
        """False if something was handed in that the grader should have scored and did not."""
        return not self.submitted or all(cell.manual or cell.has_score for cell in self.cells)

    @property
    def max_score(self) -> Decimal:
        """Points of all cells."""
        return sum((cell.max_score for cell in self.cells), Decimal(0))

    @property
    def needs_manual_grade(self) -> bool:
        """True while a person must look at any cell."""
        return any(cell.needs_manual_grade for cell in self.cells)
