"""
What grading returns: frozen records, with JSON in and out.

A `SubmissionResult` holds a `NotebookResult` for each notebook of the
assignment, that a `CellResult` for each grade cell, and that a `CheckResult`
for each hidden check. Points are `Decimal` and become nbgrader's float only
where they are stored. None of these records ever holds an expected value.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from autograder.findings import Evidence, Repair
from autograder.illustration import Illustration, illustrations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Outcome(StrEnum):
    """How a check, or a whole grade cell, ended; only PASSED earns all of a check's points."""

    PASSED = "passed"
    FAILED = "failed"
    """The student's code ran and its result is wrong."""
    ERROR = "error"
    """The student's code raised an exception."""
    LIMIT = "limit"
    """A named limit (time, memory, output) stopped the student's code."""
    DIED = "died"
    """The student's code ended its process."""
    MISSING = "missing"
    """A name that the check needs is not defined in the notebook."""
    NOT_JUDGED = "not_judged"
    """What the check builds on is wrong, so that nothing can be said; its rationale names the cause."""
    MANUAL = "manual"
    """A person grades the cell; never the outcome of a check."""
    NOT_GRADED = "not_graded"
    """The cell could not be graded and has no score; never the outcome of a check."""


WORST = (
    Outcome.DIED,
    Outcome.LIMIT,
    Outcome.MISSING,
    Outcome.ERROR,
    Outcome.FAILED,
    Outcome.NOT_JUDGED,
)
"""How a cell ended that lost points: the first of these that one of its checks has."""


class Status(StrEnum):
    """What became of one notebook of a submission."""

    GRADED = "graded"
    MISSING = "missing"
    """The student did not hand this notebook in; it scores 0."""
    UNREADABLE = "unreadable"
    """What was handed in cannot be read, or nobody knows which file counts; it has no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """
    The outcome of one hidden check.

    Parameters
    ----------
    name : str
        The pytest function, with the case in brackets if parametrised.
    claim : str
        The check's docstring: the sentence a student reads.
    points : Decimal
        What passing it earns.
    outcome : Outcome
        How it ended.
    rationale : str
        What was found, in words safe to show: no expected value.
    hint : str
        What a teacher would say next.
    error : str
        Class of the exception the student's code raised, or name of the limit hit.
    misconception : str
        Name of the known misconception that the student's numbers fit.
    score : Decimal or None
        What it earned, if that is neither all of its points nor none of them.
    """

    name: str
    claim: str
    points: Decimal
    outcome: Outcome
    rationale: str = ""
    hint: str = ""
    error: str = ""
    misconception: str = ""
    score: Decimal | None = None

    @property
    def earned(self) -> Decimal:
        """Its score if it has one of its own, else its points if it passed, else 0."""
        if self.score is not None:
            return self.score
        return self.points if self.outcome is Outcome.PASSED else Decimal(0)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types; points as a string, to stay exact."""
        record = {name: getattr(self, name) for name in self.__slots__ if name != "score"}
        if self.score is not None:
            record["score"] = str(self.score)
        return record | {"points": str(self.points), "outcome": self.outcome.value}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Build the record from what `to_dict` returned."""
        score = record.get("score")
        changed = {
            "points": Decimal(record["points"]),
            "outcome": Outcome(record["outcome"]),
            "score": None if score is None else Decimal(score),
        }
        return cls(**(record | changed))


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """
    One grade cell: a test cell with its checks, or an answer graded by hand.

    Parameters
    ----------
    grade_id : str
        The cell's name in its notebook.
    max_score : Decimal
        The points of the cell.
    checks : tuple of CheckResult
        One for each hidden check; empty for an answer graded by hand.
    manual : bool
        True if a person grades this cell.
    answered : bool
        False if an answer graded by hand was left as it was handed out.
    illustrations : tuple of Illustration
        What the student's functions give for public inputs, if the cell lost points.
    not_graded : str
        Why it could not be graded, and what to do; then it has no score. Empty if it was.
    """

    grade_id: str
    max_score: Decimal
    checks: tuple[CheckResult, ...] = ()
    manual: bool = False
    answered: bool = True
    illustrations: tuple[Illustration, ...] = ()
    not_graded: str = ""

    @property
    def auto_score(self) -> Decimal | None:
        """Points earned, inside [0, max_score]; None while a person must grade."""
        if self.not_graded:
            return None
        if self.manual:
            return None if self.answered else Decimal(0)
        earned = sum((check.earned for check in self.checks), Decimal(0))
        return min(max(earned, Decimal(0)), self.max_score)

    @property
    def needs_manual_grade(self) -> bool:
        """True while the score waits for a person."""
        return self.auto_score is None

    @property
    def outcome(self) -> Outcome:
        """How it ended: the worst outcome of its checks, MISSING without any, or that a person grades it."""
        if self.not_graded:
            return Outcome.NOT_GRADED
        if self.manual:
            return Outcome.MANUAL
        ends = {check.outcome for check in self.checks}
        if not ends:
            return Outcome.MISSING
        return next((outcome for outcome in WORST if outcome in ends), Outcome.PASSED)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types; what is seldom there only if it is."""
        record = {
            "grade_id": self.grade_id,
            "max_score": str(self.max_score),
            "checks": [check.to_dict() for check in self.checks],
            "manual": self.manual,
            "answered": self.answered,
            "outcome": self.outcome.value,
        }
        if self.illustrations:
            record["illustrations"] = [one.to_dict() for one in self.illustrations]
        if self.not_graded:
            record["not_graded"] = self.not_graded
        return record

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Build the record from what `to_dict` returned."""
        changed = {
            "max_score": Decimal(record["max_score"]),
            "checks": tuple(CheckResult.from_dict(check) for check in record["checks"]),
            "illustrations": illustrations(record.get("illustrations")),
        }
        # How it ended is computed; it stands there for those who read the JSON.
        told = {name: value for name, value in record.items() if name != "outcome"}
        return cls(**(told | changed))


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookResult:
    """
    One notebook of a submission.

    Parameters
    ----------
    name : str
        The notebook's name without suffix.
    status : Status
        Whether it was graded, not handed in, or cannot be read.
    cells : tuple of CellResult
        One for each grade cell of the released notebook, in its order.
    repairs : tuple of Repair
        What was put right before it was graded.
    evidence : tuple of Evidence
        What looks like tampering, for course staff alone.
    """

    name: str
    status: Status = Status.GRADED
    cells: tuple[CellResult, ...] = ()
    repairs: tuple[Repair, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def auto_score(self) -> Decimal:
        """Points earned automatically in all cells."""
        return sum((cell.auto_score or Decimal(0) for cell in self.cells), Decimal(0))

    @property
    def max_score(self) -> Decimal:
        """Points of all cells, those graded by hand included."""
        return sum((cell.max_score for cell in self.cells), Decimal(0))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return {
            "name": self.name,
            "status": self.status.value,
            "cells": [cell.to_dict() for cell in self.cells],
            "repairs": [one.to_dict() for one in self.repairs],
            "evidence": [one.to_dict() for one in self.evidence],
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Build the record from what `to_dict` returned."""
        changed = {
            "status": Status(record["status"]),
            "cells": tuple(CellResult.from_dict(cell) for cell in record["cells"]),
            "repairs": tuple(Repair.from_dict(one) for one in record["repairs"]),
            "evidence": tuple(Evidence.from_dict(one) for one in record["evidence"]),
        }
        return cls(**(record | changed))


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionResult:
    """
    One student's graded submission.

    Parameters
    ----------
    assignment : str
        The assignment's name.
    student : str
        The student's id.
    notebooks : tuple of NotebookResult
        One for each notebook of the assignment, missing ones included.
    sandbox : str
        What stood around the student's code while it ran.
    """

    assignment: str
    student: str
    notebooks: tuple[NotebookResult, ...]
    sandbox: str = ""

    @property
    def auto_score(self) -> Decimal:
        """Points earned automatically in all notebooks."""
        return sum((notebook.auto_score for notebook in self.notebooks), Decimal(0))

    @property
    def max_score(self) -> Decimal:
        """Points of the whole assignment, those graded by hand included."""
        return sum((notebook.max_score for notebook in self.notebooks), Decimal(0))

    @property
    def failure(self) -> str:
        """Why some of it could not be graded, and what to do; empty if all was."""
        told: dict[str, None] = {}
        for book in self.notebooks:
            for cell in book.cells:
                if cell.not_graded:
                    # A notebook that cannot be read says the same of each of its cells, and names itself.
                    where = "" if book.status is Status.UNREADABLE else f"{book.name}, {cell.grade_id}: "
                    told[f"{where}{cell.not_graded}"] = None
        return " ".join(told)

    @property
    def needs_manual_grade(self) -> bool:
        """True while any cell waits for a person."""
        return any(cell.needs_manual_grade for book in self.notebooks for cell in book.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return {
            "assignment": self.assignment,
            "student": self.student,
            "notebooks": [notebook.to_dict() for notebook in self.notebooks],
            "sandbox": self.sandbox,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Build the record from what `to_dict` returned."""
        notebooks = tuple(NotebookResult.from_dict(book) for book in record["notebooks"])
        return cls(**(record | {"notebooks": notebooks}))

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Build the record from what `to_json` returned."""
        return cls.from_dict(json.loads(text))


@dataclass(frozen=True, slots=True)
class GradedSubmission:
    """
    A submission after grading.

    Parameters
    ----------
    notebooks : mapping of str to dict
        The graded notebooks by name; one that was not handed in is absent, for
        one that cannot be read there is one that says why.
    result : SubmissionResult
        The outcome of each grade cell.
    unanswered : mapping of str to frozenset of str
        For each notebook the solution cells left as they were handed out.
    timestamp : datetime or None
        When it was handed in: naive, in UTC; None if that is not known.
    ignored : tuple of str
        Names of notebooks that do not belong to the assignment.
    """

    notebooks: Mapping[str, dict[str, Any]]
    result: SubmissionResult
    unanswered: Mapping[str, frozenset[str]]
    timestamp: datetime | None = None
    ignored: tuple[str, ...] = ()
