"""What looks unusual in submissions, for course staff: gathered, ordered, and in words that accuse nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.findings import EvidenceKind, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autograder.pages.views import StudentView

SEVERITIES = {
    Severity.ATTACK: ("Nobody does this by accident", "Look at the notebook, then speak with the student."),
    Severity.DOUBT: (
        "By accident or on purpose",
        "The evidence cannot tell. Ask before you conclude.",
    ),
    Severity.NOTICE: (
        "Most likely an accident",
        "Tools and habits explain it. Listed so that you know.",
    ),
}
"""Heading and advice, the gravest first."""

KINDS = {
    EvidenceKind.LOCKED_CELL: "edited a given cell",
    EvidenceKind.SKIP_TAG: "tagged a cell to be skipped",
    EvidenceKind.POINTS: "points or flags were changed",
    EvidenceKind.HIDDEN_TESTS: "hidden tests were handed in",
    EvidenceKind.RESULTS: "a grader's results were handed in",
    EvidenceKind.PATCHED: "code replaced a function of Python, numpy or IPython",
    EvidenceKind.FAKE_MODULE: "a file or code stands for an installed module",
    EvidenceKind.REFUSED_CALL: "code asked for what it may not have",
    EvidenceKind.FORGED_FRAME: "the student's process sent what no answer is",
    EvidenceKind.FORGED_SCORE: "a test cell showed a score that is not its own",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """
    One thing that looks unusual in a notebook.

    Parameters
    ----------
    student, notebook : str
        Where it was found.
    cells : tuple of str
        The cells, or files, that say the same.
    what : str
        Its kind, in words.
    detail : tuple of tuple of (str, str)
        The evidence line by line: ``+``, ``-`` or nothing, and the line.
    """

    student: str
    notebook: str
    cells: tuple[str, ...]
    what: str
    detail: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """
    What looks unusual with one severity.

    Parameters
    ----------
    severity : Severity
        How likely it was meant.
    title, advice : str
        What to make of it.
    signs : tuple of Sign
        By student.
    """

    severity: Severity
    title: str
    advice: str
    signs: tuple[Sign, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.signs)


def unusual(students: Iterable[StudentView]) -> tuple[Signs, ...]:
    """
    Return what looks unusual in a class.

    Parameters
    ----------
    students : iterable of StudentView
        The submissions, by student.

    Returns
    -------
    tuple of Signs
        The gravest severity first; one that did not occur is absent.
    """
    found: dict[Severity, dict[tuple[str, str, EvidenceKind, str], list[str]]] = {}
    for student in students:
        for book in student.books:
            for one in book.evidence:
                key = (student.student, book.name, one.kind, one.detail)
                found.setdefault(one.severity, {}).setdefault(key, []).append(one.where)
    return tuple(
        Signs(
            severity=severity,
            title=title,
            advice=advice,
            signs=tuple(
                Sign(
                    student=student,
                    notebook=notebook,
                    cells=tuple(dict.fromkeys(cells)),
                    what=KINDS[kind],
                    detail=_lines(detail),
                )
                for (student, notebook, kind, detail), cells in found[severity].items()
            ),
        )
        for severity, (title, advice) in SEVERITIES.items()
        if severity in found
    )


def _lines(detail: str) -> tuple[tuple[str, str], ...]:
    """Return the lines of the evidence; those of a difference with their sign apart."""
    lines = detail.split("\n")
    if len(lines) == 1:
        return (("", detail),)
    return tuple((line[:1], line[1:]) if line[:1] in {"+", "-"} else ("", line) for line in lines)
