"""What `autograder grade` prints when it is done: scores, what could not be graded, what to do next."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.checks.report import number
from autograder.findings import Severity
from autograder.results import Outcome, Status
from autograder.terminal import printable, say, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.course import Course
    from autograder.grading.run import Batch
    from autograder.results import CellResult, NotebookResult, SubmissionResult

NAMED = 8
"""Students that are named one by one."""


def print_summary(course: Course, batch: Batch) -> None:
    """
    Print the scores of a batch, what could not be graded, and what to do next.

    Parameters
    ----------
    course : Course
        The course.
    batch : Batch
        The batch.
    """
    console = Console(highlight=False)
    if batch.results:
        console.print(score_table(batch.results))
    graded = {result.student for result in batch.results}
    for one in batch.not_graded:
        how = "not graded in full" if one.student in graded else "not graded"
        say(console, f"{how}: {one.student}: {one.reason}", "red")
    for student, names in batch.ignored.items():
        say(console, f"ignored: {student}: {', '.join(names)} (no notebook of the assignment)", "yellow")
    for place in batch.misplaced:
        say(console, f"not looked at: {place}", "yellow")
    for line in _odd(batch.results):
        say(console, line, "yellow")
    say(console, _count(batch))
    waiting = sum(_waits(result) for result in batch.results)
    if waiting:
        say(console, f"* {waiting} of them with an answer that waits for a person")
        say(console, "  (start `jupyter lab` here, menu Nbgrader, Formgrader)")
    if batch.not_graded:
        again = f"autograder grade {batch.assignment}"
        say(console, f"Once the file is mended: {again}. Once the machine is: {again} --retry-failed.")
    say(console, f"Scores: {_short(course.db_url)}. Next: autograder feedback, report, export.")


def _count(batch: Batch) -> str:
    graded = {result.student for result in batch.results}
    open_ones = {one.student for one in batch.not_graded}
    parts = []
    if graded:
        in_part = len(graded & open_ones)
        partly = f", {in_part} of them in part," if in_part else ""
        parts.append(f"graded {_submissions(len(graded))}{partly} in {batch.elapsed_s:.1f} s")
    if others := len(open_ones - graded):
        parts.append(f"{others} could not be graded")
    if batch.unchanged:
        parts.append(f"{len(batch.unchanged)} unchanged since they were graded (--force grades them again)")
    return f"{batch.assignment}: {'; '.join(parts) or 'nothing to grade'}"


def _submissions(count: int) -> str:
    return f"{count} submission{'s' * (count != 1)}"


def _odd(results: tuple[SubmissionResult, ...]) -> Iterator[str]:
    """Yield who had something put right, and whose work looks unusual; the report has the rest."""
    repaired = [one.student for one in results if any(book.repairs for book in one.notebooks)]
    unusual = [one.student for one in results if _severities(one) - {Severity.NOTICE}]
    if repaired:
        who = some(repaired, NAMED)
        yield f"put right before grading: {who} (what, is in the report and in their feedback)"
    if unusual:
        yield f"looks unusual: {some(unusual, NAMED)} (why, is in the report only; no score was touched)"


def _severities(result: SubmissionResult) -> set[Severity]:
    return {one.severity for book in result.notebooks for one in book.evidence}


def _waits(result: SubmissionResult) -> bool:
    return any(cell.outcome is Outcome.MANUAL and cell.needs_manual_grade for cell in _cells(result))


def _cells(result: SubmissionResult) -> Iterator[CellResult]:
    return (cell for book in result.notebooks for cell in book.cells)


def _short(db_url: str) -> str:
    """Return the name of the gradebook's file, or what else it is."""
    scheme, _, address = db_url.partition(":")
    # An address of a server can hold a password.
    return PurePath(address.partition("?")[0]).name if scheme == "sqlite" else "the course's database"


def score_table(results: tuple[SubmissionResult, ...]) -> Table:
    """
    Return a table with a row for each student and a column for each notebook.

    Parameters
    ----------
    results : tuple of SubmissionResult
        At least one.

    Returns
    -------
    Table
        For rich to print.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", no_wrap=True)
    for name, book in zip(_short_names(results[0]), results[0].notebooks, strict=True):
        table.add_column(f"{name}\nof {number(book.max_score)}", justify="right", no_wrap=True)
    table.add_column(f"total\nof {number(results[0].max_score)}", justify="right", style="bold", no_wrap=True)
    table.add_column("lost points in")
    for result in results:
        # Names of folders are students' to choose: never markup, never orders to the terminal.
        scores = [_shown(book) for book in result.notebooks]
        student, losses = Text(printable(result.student)), Text(_losses(result), style="dim")
        table.add_row(student, *scores, number(result.auto_score), losses)
    return table


def _short_names(result: SubmissionResult) -> list[str]:
    names = [book.name for book in result.notebooks]
    short = [name.split("_")[0] for name in names]
    return short if len({*short}) == len(short) else names


def _shown(book: NotebookResult) -> str:
    if book.status is not Status.GRADED:
        return "missing " if book.status is Status.MISSING else "unreadable "
    outcomes = {cell.outcome for cell in book.cells if cell.needs_manual_grade}
    mark = "!" if Outcome.NOT_GRADED in outcomes else "*" if outcomes else " "
    return number(book.auto_score) + mark


def _losses(result: SubmissionResult) -> str:
    names = Counter(cell.grade_id for book in result.notebooks for cell in book.cells)
    lost = [
        f"{book.name}: " * (names[cell.grade_id] > 1) + cell.grade_id.removeprefix("test_")
        for book in result.notebooks
        if book.status is Status.GRADED
        for cell in book.cells
        if not cell.manual and cell.auto_score is not None and cell.auto_score != cell.max_score
    ]
    total = sum(not cell.manual for book in result.notebooks for cell in book.cells)
    return "everything" if len(lost) == total else ", ".join(lost)
