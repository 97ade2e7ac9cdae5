"""What the report shows of a class: its totals, who needs a look and why, what recurs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from statistics import mean, median
from typing import TYPE_CHECKING

from autograder.checks.outcomes import LIMITS, OUTCOMES
from autograder.pages.counts import cell_counts, ends_seen, labels
from autograder.pages.evidence import unusual
from autograder.pages.repairs import repair_count, repaired
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from autograder.pages.counts import CellCount, Cells
    from autograder.pages.evidence import Signs
    from autograder.pages.repairs import RepairCount, Repaired
    from autograder.pages.views import Mistake, StudentView

MAX_BINS = 30
STOPPED = {OUTCOMES[Outcome.LIMIT], *LIMITS.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """
    One bar of the histogram.

    Parameters
    ----------
    label : str
        Its range of points.
    tick : str
        What stands below it.
    count : int
        Submissions in it.
    """

    label: str
    tick: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonMistake:
    """
    A misconception and who has it.

    Parameters
    ----------
    name, text, cell : str
        Its name, its sentence and hint, and the grade cell where it shows.
    students : tuple of str
        Who.
    """

    name: str
    text: str
    cell: str
    students: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """
    A submission that a person should look at, or that could not be graded.

    Parameters
    ----------
    student : str
        Whose.
    reasons : tuple of str
        Why.
    """

    student: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    """
    A class in one assignment.

    Parameters
    ----------
    students : tuple of StudentView
        The submissions that have results, by student.
    graded, handed_in : int
        Submissions that could be graded, at least in part, and all of them.
    max_score : Decimal
        Points of the assignment.
    mean, median : Decimal or None
        Of the totals so far of what could be graded whole; None without any.
    full : int
        Submissions with all points that are given so far.
    waiting : int
        Submissions with an answer that waits for a person.
    partial : int
        Submissions of which a part could not be graded; they are in no mean and no bar.
    bins : tuple of Bin
        The distribution of totals.
    ends : tuple of str
        The ways in which any cell ended.
    cells : tuple of CellCount
        By grade cell.
    mistakes : tuple of CommonMistake
        The most common first.
    failed : tuple of Attention
        Who could not be graded, or not all of it, and why.
    attention : tuple of Attention
        Who else should be looked at.
    late : tuple of StudentView
        Who handed in late.
    repair_count : RepairCount
        How many notebooks were repaired.
    repaired : tuple of Repaired
        What was put right, by student.
    unusual : tuple of Signs
        What looks like tampering, the gravest first.
    sandboxes : tuple of str
        What stood around the code of students.
    """

    students: tuple[StudentView, ...]
    graded: int
    handed_in: int
    max_score: Decimal
    mean: Decimal | None
    median: Decimal | None
    full: int
    waiting: int
    partial: int
    bins: tuple[Bin, ...]
    ends: tuple[str, ...]
    cells: tuple[CellCount, ...]
    mistakes: tuple[CommonMistake, ...]
    failed: tuple[Attention, ...]
    attention: tuple[Attention, ...]
    late: tuple[StudentView, ...]
    repair_count: RepairCount
    repaired: tuple[Repaired, ...]
    unusual: tuple[Signs, ...]
    sandboxes: tuple[str, ...]


def class_view(students: Sequence[StudentView], reasons: Mapping[str, str] | None = None) -> ClassView:
    """
    Return what the report shows of a class.

    Parameters
    ----------
    students : sequence of StudentView
        The graded submissions.
    reasons : mapping of str to str, optional
        By student why a submission could not be graded. Who is among
        `students` as well was graded before.

    Returns
    -------
    ClassView
        The counts.
    """
    reasons = reasons or {}
    known = {one.student for one in students}
    whole = [one for one in students if not one.blocked]
    totals = [one.score for one in whole]
    max_score = students[0].max_score if students else Decimal(0)
    called = labels(students)
    cells = cell_counts(students, called)
    return ClassView(
        students=tuple(students),
        graded=sum(bool(one.graded) or not one.blocked for one in students),
        handed_in=len(known | reasons.keys()),
        max_score=max_score,
        mean=mean(totals) if totals else None,
        median=Decimal(median(totals)) if totals else None,
        full=sum(one.score >= max_score - one.waiting for one in whole),
        waiting=sum(one.waiting > 0 for one in students),
        partial=len(students) - len(whole),
        bins=_bins(totals, max_score),
        ends=ends_seen(cells),
        cells=cells,
        mistakes=_common(students, called),
        failed=_failed(students, reasons),
        attention=_attention((one.student, _looks(one, called)) for one in students),
        late=tuple(one for one in students if one.late),
        repair_count=repair_count(students),
        repaired=repaired(students),
        unusual=unusual(students),
        sandboxes=tuple(sorted({one.sandbox for one in students if one.sandbox})),
    )


def _bins(totals: Sequence[Decimal], max_score: Decimal) -> tuple[Bin, ...]:
    """Count totals in bins of whole points; extra credit falls into the last one."""
    width = max(ceil(max_score / MAX_BINS), 1)
    number = max(floor(max_score / width), 0) + 1
    counts = Counter(min(floor(total / width), number - 1) for total in totals)
    bins = []
    for index in range(number):
        low = index * width
        label = f"{low} to less than {low + width} points" if index < number - 1 else f"{low} points or more"
        bins.append(Bin(label=label, tick=str(low), count=counts[index]))
    return tuple(bins)


def _common(students: Sequence[StudentView], called: Cells) -> tuple[CommonMistake, ...]:
    found: dict[tuple[str, str], tuple[Mistake, list[str]]] = {}
    for student in students:
        for cell in student.cells:
            label = called[cell.notebook, cell.grade_id]
            for mistake in cell.mistakes:
                found.setdefault((label, mistake.name), (mistake, []))[1].append(student.student)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1][1]), item[0]))
    return tuple(
        CommonMistake(name=name, text=mistake.text, cell=cell, students=tuple(who))
        for (cell, name), (mistake, who) in ranked
    )


def _failed(students: Sequence[StudentView], reasons: Mapping[str, str]) -> tuple[Attention, ...]:
    """Return who could not be graded and why: the whole submission, a notebook, or some cells."""
    known = {one.student: one for one in students}
    # Of what could be graded in part, its cells tell the reasons.
    found = {
        name: [f"The last time it could not be graded: {reason}" if name in known else reason]
        for name, reason in reasons.items()
        if name not in known or not known[name].blocked
    }
    for student in students:
        places: dict[str, list[str]] = {}
        for book in student.books:
            for cell in book.cells:
                if cell.not_graded:
                    where = book.name if book.not_graded else f"{book.name}, {cell.title}"
                    places.setdefault(cell.not_graded, []).append(where)
        found.setdefault(student.student, []).extend(
            # The reason may name the file itself.
            reason if reason.startswith(where[0]) else f"{'; '.join(dict.fromkeys(where))}: {reason}"
            for reason, where in places.items()
        )
    return _attention(found.items())


def _attention(found: Iterable[tuple[str, Sequence[str]]]) -> tuple[Attention, ...]:
    ordered = sorted(found, key=lambda item: item[0])
    return tuple(Attention(student=name, reasons=tuple(reasons)) for name, reasons in ordered if reasons)


def _looks(student: StudentView, called: Cells) -> list[str]:
    """Return why a person should look at a graded submission."""
    reasons = [
        f"{book.name}.ipynb was not handed in under this name" for book in student.books if book.missing
    ]
    for cell in student.cells:
        label = called[cell.notebook, cell.grade_id]
        stopped = Counter(check.outcome for check in cell.checks if check.outcome in STOPPED)
        reasons += [
            f"{label}: {count} of {len(cell.checks)} checks {how}" for how, count in stopped.most_common()
        ]
        if cell.again:
            reasons.append(f"{label}: graded again since it was scored by hand")
    return reasons
