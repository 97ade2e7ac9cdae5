"""What `autograder grade` prints when it is done: scores, what could not be graded, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.checks.report import number
from autograder.results import Status
from autograder.terminal import printable

if TYPE_CHECKING:
    from autograder.course import Course
    from autograder.grading import Batch
    from autograder.results import NotebookResult, SubmissionResult


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
    for one in batch.not_graded:
        console.print(Text(printable(f"not graded: {one.student}: {one.reason}"), style="red"))
    for student, names in batch.ignored.items():
        line = f"ignored: {student}: {', '.join(names)} (no notebook of the assignment has this name)"
        console.print(Text(printable(line), style="yellow"))
    console.print(_count(batch))
    waiting = sum(result.needs_manual_grade for result in batch.results)
    if waiting:
        console.print(f"* {waiting} of them with an answer that waits for a person")
        console.print("  (start `jupyter lab` here, menu Nbgrader, Formgrader)")
    if batch.not_graded:
        console.print(f"Once mended: autograder grade {batch.assignment} --retry-failed")
    console.print(f"Scores: {course.gradebook.name}. Next: autograder feedback, report, export.")


def _count(batch: Batch) -> str:
    tried = len(batch.results) + len(batch.not_graded)
    parts = []
    if tried or not batch.unchanged:
        parts.append(f"graded {len(batch.results)} of {tried} submissions in {batch.elapsed_s:.1f} s")
    if batch.unchanged:
        parts.append(f"{len(batch.unchanged)} unchanged since they were graded (--force grades them again)")
    return f"{batch.assignment}: {'; '.join(parts)}"


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
    if book.status is Status.MISSING:
        return "missing "
    waits = any(cell.needs_manual_grade for cell in book.cells)
    return number(book.auto_score) + ("*" if waits else " ")


def _losses(result: SubmissionResult) -> str:
    lost = [
        cell.grade_id.removeprefix("test_")
        for book in result.notebooks
        if book.status is not Status.MISSING
        for cell in book.cells
        if not cell.manual and cell.auto_score != cell.max_score
    ]
    total = sum(not cell.manual for book in result.notebooks for cell in book.cells)
    return "everything" if len(lost) == total else ", ".join(lost)
