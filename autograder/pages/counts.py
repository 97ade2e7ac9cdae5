"""How a class did in each task and check: counts over all submissions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

from autograder.checks.outcomes import LIMITS, OUTCOMES
from autograder.pages.student import NOT_ANSWERED, NOT_HANDED_IN, WAITS
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from autograder.pages.views import CellView, StudentView

    Cells = Mapping[tuple[str, str], str]

_OF_LIMITS = [OUTCOMES[Outcome.LIMIT], *LIMITS.values()]
_OF_PEOPLE = [OUTCOMES[Outcome.MANUAL], WAITS, NOT_ANSWERED]
_OF_CHECKS = [words for outcome, words in OUTCOMES.items() if words not in {*_OF_LIMITS, *_OF_PEOPLE}]
_LAST = [OUTCOMES[Outcome.NOT_GRADED], NOT_HANDED_IN]
ENDS = [*(words for words in _OF_CHECKS if words not in _LAST), *_OF_LIMITS, *_OF_PEOPLE, *_LAST]
"""Every way in which a graded cell may end, in words, as they are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCount:
    """
    How the class did in one check.

    Parameters
    ----------
    claim : str
        What it checks.
    passed, failed : int
        Submissions that passed it, and that did not.
    how : str
        How those that did not pass ended, in words.
    """

    claim: str
    passed: int
    failed: int
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCount:
    """
    How the class did in one grade cell.

    Parameters
    ----------
    label : str
        What it is called, and no other cell of the assignment.
    max_score : Decimal
        What it is worth.
    mean : Decimal or None
        The mean score of those that have one.
    full, scored, waiting, blocked : int
        Submissions with all points, with a score, that wait for a person, and that could not be graded.
    ends : mapping of str to int
        How it ended, in words, and how often.
    checks : tuple of CheckCount
        Its hidden checks.
    """

    label: str
    max_score: Decimal
    mean: Decimal | None
    full: int
    scored: int
    waiting: int
    blocked: int
    ends: Mapping[str, int]
    checks: tuple[CheckCount, ...]


def labels(students: Sequence[StudentView]) -> dict[tuple[str, str], str]:
    """
    Return what to call each grade cell: the shortest name that no other one has.

    Parameters
    ----------
    students : sequence of StudentView
        The class.

    Returns
    -------
    dict of tuple to str
        By notebook and grade_id.
    """
    cells = students[0].cells if students else ()
    forms = [
        (cell.title, cell.grade_id, f"{cell.notebook}: {cell.title}", f"{cell.notebook}: {cell.grade_id}")
        for cell in cells
    ]
    used = Counter(form for names in forms for form in set(names))
    return {
        (cell.notebook, cell.grade_id): next((name for name in names if used[name] == 1), names[-1])
        for cell, names in zip(cells, forms, strict=True)
    }


def cell_counts(students: Sequence[StudentView], called: Cells) -> tuple[CellCount, ...]:
    """
    Return how a class did in each grade cell.

    Parameters
    ----------
    students : sequence of StudentView
        The class; all of the same release.
    called : mapping of tuple to str
        What `labels` returned.

    Returns
    -------
    tuple of CellCount
        In the order of the assignment.
    """
    columns = zip(*(one.cells for one in students), strict=True)
    return tuple(_cell_count(cells, called) for cells in columns)


def ends_seen(cells: Sequence[CellCount]) -> tuple[str, ...]:
    """Return the ways in which any cell ended, as they are listed."""
    return tuple(end for end in ENDS if any(cell.ends.get(end) for cell in cells))


def _cell_count(cells: Sequence[CellView], called: Cells) -> CellCount:
    scores = [cell.score for cell in cells if cell.score is not None]
    states = Counter(cell.state for cell in cells)
    return CellCount(
        label=called[cells[0].notebook, cells[0].grade_id],
        max_score=cells[0].max_score,
        mean=mean(scores) if scores else None,
        full=states["full"],
        scored=len(scores),
        waiting=states["waiting"],
        blocked=states["blocked"],
        ends=Counter(cell.ended for cell in cells),
        checks=_check_counts(cells),
    )


def _check_counts(cells: Sequence[CellView]) -> tuple[CheckCount, ...]:
    # Checks are known by their sentence: a submission of a missing notebook has none.
    outcomes: dict[str, Counter[str]] = {}
    for cell in cells:
        for check in cell.checks:
            outcomes.setdefault(check.claim, Counter())[check.outcome] += 1
    counts = []
    for claim, counter in outcomes.items():
        passed = counter.pop(OUTCOMES[Outcome.PASSED], 0)
        how = ", ".join(f"{count} {outcome}" for outcome, count in counter.most_common())
        counts.append(CheckCount(claim=claim, passed=passed, failed=counter.total(), how=how))
    return tuple(counts)
