"""
Who would gain and who would lose: grading that stores nothing and is compared with what is stored.

For the time after a hidden check, a reference or a setting has changed and
before the grades do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.checks.report import number
from autograder.gradebook import Gradebook
from autograder.grading.batch import NotGraded
from autograder.grading.planning import Again, Planner
from autograder.progress import progress_bar
from autograder.release import check_release
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autograder.grading.batch import Graders
    from autograder.results import SubmissionResult
    from autograder.scores import CellScore, StudentScore


@dataclass(frozen=True, slots=True)
class Change:
    """
    A graded cell whose automatic score would change.

    Parameters
    ----------
    student, notebook, grade_id : str
        Where.
    before, after : Decimal or None
        The automatic score that is stored, and the new one; None is none.
    by_hand : bool
        True if a person has scored the cell, so that the total stays.
    """

    student: str
    notebook: str
    grade_id: str
    before: Decimal | None
    after: Decimal | None
    by_hand: bool

    @property
    def difference(self) -> Decimal:
        """Points that the student would gain, or lose if below 0."""
        return Decimal(0) if self.by_hand else (self.after or Decimal(0)) - (self.before or Decimal(0))

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types; points as strings, to stay exact."""
        scores = {
            name: None if score is None else str(score)
            for name, score in (("before", self.before), ("after", self.after))
        }
        return {
            "student": self.student,
            "notebook": self.notebook,
            "grade_id": self.grade_id,
            **scores,
            "difference": str(self.difference),
            "by_hand": self.by_hand,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    What grading an assignment now would change.

    Parameters
    ----------
    assignment : str
        The assignment.
    changes : tuple of Change
        By student, then in the order of the cells.
    same : tuple of str
        Students graded anew whose every cell has the score that is stored.
    first : tuple of str
        Students who have no score yet.
    unchanged : tuple of str
        Students whose submission would not be graded again.
    not_graded : tuple of NotGraded
        Submissions that could not be graded.
    """

    assignment: str
    changes: tuple[Change, ...]
    same: tuple[str, ...]
    first: tuple[str, ...]
    unchanged: tuple[str, ...]
    not_graded: tuple[NotGraded, ...]

    @property
    def totals(self) -> dict[str, Decimal]:
        """What each student with a change would gain, or lose if below 0."""
        totals: dict[str, Decimal] = {}
        for change in self.changes:
            totals[change.student] = totals.get(change.student, Decimal(0)) + change.difference
        return totals

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return {
            "assignment": self.assignment,
            "changes": [change.to_dict() for change in self.changes],
            "totals": {student: str(total) for student, total in self.totals.items()},
            "same": list(self.same),
            "first": list(self.first),
            "unchanged": list(self.unchanged),
            "not_graded": [{"student": one.student, "reason": one.reason} for one in self.not_graded],
        }


def what_changed(
    graders: Graders,
    assignment: str,
    students: Sequence[str],
    *,
    again: Again = Again.NOTHING,
    quiet: bool = False,
) -> Comparison:
    """
    Grade what has changed, store nothing, and compare with what is stored.

    Parameters
    ----------
    graders : Graders
        The processes that grade.
    assignment : str
        The assignment.
    students : sequence of str
        Whose submissions.
    again : Again
        What is graded although nothing has changed.
    quiet : bool
        True to show no progress.

    Returns
    -------
    Comparison
        Who would gain and who would lose, cell by cell.

    Raises
    ------
    CourseError
        If the release is not up to date.
    OperatorError
        If the machine fails, or the gradebook cannot be read.
    """
    course = graders.course
    check_release(course, assignment)
    changes: dict[str, list[Change]] = {}
    first: list[str] = []
    with Gradebook(course.db_url) as gradebook, progress_bar(quiet=quiet) as progress:
        plan = Planner(course, graders.settings, gradebook, assignment, again=again).plan(students)
        stored = {one.student: one for one in gradebook.scores(assignment) if one.submitted}
        not_graded = list(plan.failed)
        bar = progress.add_task(f"{assignment}: nothing is stored", total=len(plan.todo))
        for graded in graders.grade(assignment, plan.todo) if plan.todo else ():
            if isinstance(graded, NotGraded):
                not_graded.append(graded)
            elif graded.result.student in stored:
                changes[graded.result.student] = list(_changes(graded.result, stored[graded.result.student]))
            else:
                first.append(graded.result.student)
            progress.advance(bar)
    return Comparison(
        assignment,
        tuple(change for student in sorted(changes) for change in changes[student]),
        tuple(sorted(student for student, found in changes.items() if not found)),
        tuple(sorted(first)),
        plan.unchanged,
        tuple(sorted(not_graded, key=lambda one: one.student)),
    )


def _changes(result: SubmissionResult, stored: StudentScore) -> Iterator[Change]:
    scores: dict[tuple[str, str], CellScore] = {(one.notebook, one.grade_id): one for one in stored.cells}
    for book in result.notebooks:
        for cell in book.cells:
            before = scores.get((book.name, cell.grade_id))
            old = before.auto_score if before is not None else None
            if cell.auto_score != old:
                by_hand = before is not None and before.manual_score is not None
                yield Change(result.student, book.name, cell.grade_id, old, cell.auto_score, by_hand)


def print_comparison(comparison: Comparison) -> None:
    """
    Print who would gain and who would lose.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    """
    console = Console(highlight=False)
    if comparison.changes:
        console.print(_table(comparison))
    for one in comparison.not_graded:
        console.print(Text(printable(f"not graded: {one.student}: {one.reason}"), style="red"))
    totals = comparison.totals.values()
    gain, lose = sum(total > 0 for total in totals), sum(total < 0 for total in totals)
    same = len(comparison.same) + sum(total == 0 for total in totals)
    parts = [f"{gain} would gain", f"{lose} would lose", f"{same} keep their points"]
    if comparison.first:
        parts.append(f"{len(comparison.first)} would be graded for the first time")
    if comparison.unchanged:
        parts.append(f"{len(comparison.unchanged)} need no grading")
    line = f"{comparison.assignment}: {', '.join(parts)}. Nothing was stored."
    console.print(line, soft_wrap=True)
    if comparison.changes or comparison.first:
        console.print(f"To store it: autograder grade {comparison.assignment}", soft_wrap=True)


def _table(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", no_wrap=True)
    table.add_column("cell", overflow="fold")
    for name in ("before", "after", "change"):
        table.add_column(name, justify="right", no_wrap=True)
    places = {(change.notebook, change.grade_id) for change in comparison.changes}
    names = Counter(grade_id for _, grade_id in places)
    for change in comparison.changes:
        style = "green" if change.difference > 0 else "red" if change.difference < 0 else "dim"
        told = "graded by hand" if change.by_hand else f"{change.difference:+f}"
        cell = change.grade_id.removeprefix("test_")
        # Two notebooks may have cells of one name.
        cell = cell if names[change.grade_id] == 1 else f"{change.notebook}: {cell}"
        scores = _shown(change.before), _shown(change.after)
        table.add_row(Text(printable(change.student)), Text(cell), *scores, Text(told, style=style))
    return table


def _shown(score: Decimal | None) -> str:
    return "none" if score is None else number(score)
