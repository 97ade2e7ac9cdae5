"""
What was found beside the score: what was repaired in a submission, and what looks like tampering.

A `Repair` is told to everybody: course staff read what it says, feedback says
it in friendlier words. `Evidence` is for course staff alone and never touches
a score.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

MAX_DETAIL = 300
"""Characters of a finding's detail, which may come from a student."""


class RepairKind(StrEnum):
    """What was put right, of a cell unless it says otherwise; each is explained in docs/operator.md."""

    COPIED = "copied"
    """It was there more than once: one copy counts."""
    JOINED = "joined"
    """It was split: its parts count together."""
    MERGED = "merged"
    """It was merged with its neighbours: they are taken apart."""
    MOVED = "moved"
    """It stood in another place."""
    MISSING = "missing"
    """It was not there: the released one was put back."""
    FOUND = "found"
    """It was not there: another cell of the student's stands for it."""
    LOST = "lost"
    """It was not there, and nothing stands for it."""
    RETYPED = "retyped"
    """It had become code, Markdown or raw text."""
    RENAMED = "renamed"
    """It had another grade_id."""
    STRIPPED = "stripped"
    """Its nbgrader metadata was not there."""
    FLAGS = "flags"
    """Its points or what it is for had been changed."""
    TAGGED = "tagged"
    """It had tags, which can change how it runs."""
    SOURCE = "source"
    """It is locked and had been edited."""
    KEPT = "kept"
    """It is locked, and what was typed into it stands in a cell of its own now."""
    OTHER_RELEASE = "other_release"
    """It is locked and is that of another release."""
    HIDDEN_TESTS = "hidden_tests"
    """It is locked and came with its hidden tests in it."""
    STRANGE = "strange"
    """It claimed a grade_id that the notebook does not have."""
    RESULTS = "results"
    """It came with a grader's results in it."""
    DAMAGED = "damaged"
    """It was no cell at all."""
    FORMAT = "format"
    """The notebook is of an older format."""
    ENCODING = "encoding"
    """The notebook's file is no plain UTF-8."""
    OUTPUTS = "outputs"
    """The notebook's outputs were too large to be read and were dropped unread."""
    NAME = "name"
    """The notebook's file has another name, or lies in another folder."""


class Severity(StrEnum):
    """How likely it is that a finding was meant."""

    NOTICE = "notice"
    """An accident explains it, and mostly is the reason."""
    DOUBT = "doubt"
    """Either; somebody should ask."""
    ATTACK = "attack"
    """No honest work does this."""


class EvidenceKind(StrEnum):
    """What looks like tampering; each is explained in docs/operator.md."""

    LOCKED_CELL = "locked_cell"
    """A locked cell was edited."""
    SKIP_TAG = "skip_tag"
    """A cell was tagged to be skipped."""
    POINTS = "points"
    """Points or flags of a graded cell were changed."""
    HIDDEN_TESTS = "hidden_tests"
    """Hidden tests were in what was handed in."""
    RESULTS = "results"
    """A grader's results were in what was handed in."""
    PATCHED = "patched"
    """Code replaced a function of Python, numpy or IPython."""
    FAKE_MODULE = "fake_module"
    """A file or code stands for an installed module."""
    REFUSED_CALL = "refused_call"
    """Code asked for a file, a process or the network that it may not have."""
    FORGED_FRAME = "forged_frame"
    """The student's process sent what no answer is."""
    FORGED_SCORE = "forged_score"
    """A test cell showed a score that is not its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """
    Something that was put right before grading.

    Parameters
    ----------
    kind : RepairKind
        What.
    where : str
        A grade_id, ``cell 3`` for a cell without one, or a file's name.
    detail : str
        What was found or done, for course staff: a phrase without a full stop.
    """

    kind: RepairKind
    where: str
    detail: str

    def __str__(self) -> str:
        """Return it as a line."""
        return f"{self.where}: {self.detail}"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return {"kind": self.kind.value, "where": self.where, "detail": self.detail}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Build the record from what `to_dict` returned."""
        return cls(**(record | {"kind": RepairKind(record["kind"])}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    Something that looks like tampering.

    Parameters
    ----------
    kind : EvidenceKind
        What.
    severity : Severity
        How likely it was meant.
    where : str
        A grade_id, ``cell 3`` for a cell without one, or a file's name.
    detail : str
        The evidence: a phrase without a full stop, never a hidden test.
    """

    kind: EvidenceKind
    severity: Severity
    where: str
    detail: str

    def __str__(self) -> str:
        """Return it as a line."""
        return f"{self.where}: {self.detail}"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return {
            "kind": self.kind.value,
            "severity": self.severity.value,
            "where": self.where,
            "detail": self.detail,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Self:
        """Build the record from what `to_dict` returned."""
        kind, severity = EvidenceKind(record["kind"]), Severity(record["severity"])
        return cls(**(record | {"kind": kind, "severity": severity}))


def bounded(text: str) -> str:
    """Return a detail that is not longer than one may be."""
    return text if len(text) <= MAX_DETAIL else f"{text[:MAX_DETAIL]}…"
