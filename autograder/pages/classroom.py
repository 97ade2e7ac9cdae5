"""What the report shows of a class: counts over all submissions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from statistics import mean, median
from typing import TYPE_CHECKING

from autograder.pages.views import OUTCOMES, Mistake
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.pages.views import CellView, StudentView

MAX_BINS = 30


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
    notebook, title : str
        Where it is, and what it is called.
    max_score : Decimal
        What it is worth.
    mean : Decimal or None
        The mean score of those that have one.
    full, scored, waiting : int
        Submissions with all points, with a score, and without one yet.
    checks : tuple of CheckCount
        Its hidden checks.
    """

    notebook: str
    title: str
    max_score: Decimal
    mean: Decimal | None
    full: int
    scored: int
    waiting: int
    checks: tuple[CheckCount, ...]


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
    A submission that a person should look at.

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
        By student.
    max_score : Decimal
        Points of the assignment.
    mean, median : Decimal or None
        Of the totals so far; None without a submission.
    full : int
        Submissions with all points that are given so far.
    waiting : int
        Submissions with an answer that waits for a person.
    late : int
        Submissions handed in late.
    bins : tuple of Bin
        The distribution of totals.
    cells : tuple of CellCount
        By grade cell.
    mistakes : tuple of CommonMistake
        The most common first.
    attention : tuple of Attention
        By student.
    sandboxes : tuple of str
        What stood around the code of students.
    """

    students: tuple[StudentView, ...]
    max_score: Decimal
    mean: Decimal | None
    median: Decimal | None
    full: int
    waiting: int
    late: int
    bins: tuple[Bin, ...]
    cells: tuple[CellCount, ...]
    mistakes: tuple[CommonMistake, ...]
    attention: tuple[Attention, ...]
    sandboxes: tuple[str, ...]


def class_view(students: Sequence[StudentView], absent: Sequence[str] = ()) -> ClassView:
    """
    Return what the report shows of a class.

    Parameters
    ----------
    students : sequence of StudentView
        The graded submissions.
    absent : sequence of str
        Students who handed in, and whose work is not graded.

    Returns
    -------
    ClassView
        The counts.
    """
    totals = [student.score for student in students]
    max_score = students[0].max_score if students else Decimal(0)
    attention = [
        Attention(student=name, reasons=("handed in, but not graded; grading again tells why",))
        for name in absent
    ]
    attention += [Attention(student=one.student, reasons=why) for one in students if (why := _reasons(one))]
    return ClassView(
        students=tuple(students),
        max_score=max_score,
        mean=mean(totals) if totals else None,
        median=Decimal(median(totals)) if totals else None,
        full=sum(one.score >= max_score - one.waiting for one in students),
        waiting=sum(one.waiting > 0 for one in students),
        late=sum(bool(one.late) for one in students),
        bins=_bins(totals, max_score),
        cells=tuple(_cell_count(cells) for cells in zip(*(one.cells for one in students), strict=True)),
        mistakes=_common(students),
        attention=tuple(sorted(attention, key=lambda one: one.student)),
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


def _cell_count(cells: Sequence[CellView]) -> CellCount:
    scores = [cell.score for cell in cells if cell.score is not None]
    return CellCount(
        notebook=cells[0].notebook,
        title=cells[0].title,
        max_score=cells[0].max_score,
        mean=mean(scores) if scores else None,
        full=sum(cell.state == "full" for cell in cells),
        scored=len(scores),
        waiting=len(cells) - len(scores),
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


def _common(students: Sequence[StudentView]) -> tuple[CommonMistake, ...]:
    found: dict[tuple[str, str], tuple[Mistake, list[str]]] = {}
    for student in students:
        for cell in student.cells:
            for mistake in cell.mistakes:
                found.setdefault((cell.title, mistake.name), (mistake, []))[1].append(student.student)
    ranked = sorted(found.items(), key=lambda item: (-len(item[1][1]), item[0]))
    return tuple(
        CommonMistake(name=name, text=mistake.text, cell=cell, students=tuple(who))
        for (cell, name), (mistake, who) in ranked
    )


def _reasons(student: StudentView) -> tuple[str, ...]:
    reasons = [
        f"{book.name}.ipynb was not handed in under this name" for book in student.books if book.missing
    ]
    limit = OUTCOMES[Outcome.LIMIT]
    for cell in student.cells:
        stopped = [check for check in cell.checks if check.outcome == limit]
        if stopped:
            many = f"{len(stopped)} of {len(cell.checks)}"
            reasons.append(f"{cell.title}: {many} checks were stopped by a limit")
        if cell.again:
            reasons.append(f"{cell.title}: graded again since it was scored by hand")
    reasons += [
        f"{book.name}: {note}" for book in student.books for note in _joined(list(map(str, book.repairs)))
    ]
    return tuple(reasons)


def _joined(notes: Sequence[str]) -> list[str]:
    """Say once what was noted of several cells: a notebook without metadata has the same note for each."""
    cells_by_note: dict[str, list[str]] = {}
    for note in notes:
        cell, colon, what = note.partition(": ")
        cells = cells_by_note.setdefault(what if colon else note, [])
        cells += [cell] if colon else []
    return [": ".join(filter(None, (", ".join(cells), what))) for what, cells in cells_by_note.items()]
