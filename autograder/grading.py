"""The command `grade`: a batch with its progress, stored as it comes, and its summary."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.batch import Graders, NotGraded
from autograder.checks.report import number
from autograder.errors import SubmissionError
from autograder.gradebook import Gradebook
from autograder.progress import progress_bar
from autograder.release import check_release
from autograder.results import Status
from autograder.storage import Store
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autograder.course import Course
    from autograder.results import CellResult, GradedSubmission, NotebookResult, SubmissionResult


@dataclass(frozen=True, slots=True)
class Batch:
    """
    What became of an assignment's submissions.

    Parameters
    ----------
    assignment : str
        The assignment.
    results : tuple of SubmissionResult
        The graded ones, by student.
    not_graded : tuple of NotGraded
        The others, by student.
    ignored : mapping of str to tuple of str
        Notebooks that do not belong to the assignment, by student.
    elapsed_s : float
        Time taken, in seconds.
    """

    assignment: str
    results: tuple[SubmissionResult, ...]
    not_graded: tuple[NotGraded, ...]
    ignored: dict[str, tuple[str, ...]]
    elapsed_s: float

    def to_json(self) -> Iterator[str]:
        """
        Yield the batch as JSON, in pieces: as a whole, that of a large class would fill memory.

        Yields
        ------
        str
            The next piece.
        """
        about = {
            "assignment": self.assignment,
            "elapsed_s": round(self.elapsed_s, 3),
            "ignored": {student: list(names) for student, names in self.ignored.items()},
            "not_graded": [{"student": one.student, "reason": one.reason} for one in self.not_graded],
        }
        yield json.dumps(about, ensure_ascii=False)[:-1]
        yield ', "results": ['
        for index, result in enumerate(self.results):
            yield ",\n" if index else "\n"
            yield json.dumps(result.to_dict(), ensure_ascii=False)
        yield "\n]}"


def grade_assignment(
    course: Course, graders: Graders, assignment: str, students: Sequence[str], *, quiet: bool = False
) -> Batch:
    """
    Grade an assignment's submissions, and store each as soon as it is graded.

    Parameters
    ----------
    course : Course
        The course.
    graders : Graders
        The processes that grade.
    assignment : str
        The assignment.
    students : sequence of str
        Whose submissions.
    quiet : bool
        True to show no progress.

    Returns
    -------
    Batch
        What became of each submission.

    Raises
    ------
    CourseError
        If the release is not up to date.
    GradebookError
        If the grades cannot be stored.
    """
    check_release(course, assignment)
    results, not_graded, ignored = [], [], {}
    known: dict[CellResult, CellResult] = {}
    start_s = time.monotonic()
    with (
        Gradebook(course.db_url) as gradebook,
        Store(course, gradebook, graders.settings) as store,
        progress_bar(quiet=quiet) as progress,
    ):
        bar = progress.add_task(assignment, total=len(students))
        for graded in graders.grade(assignment, students):
            stored = graded if isinstance(graded, NotGraded) else _stored(store, graded)
            if isinstance(stored, NotGraded):
                not_graded.append(stored)
            else:
                results.append(sharing(stored.result, known))
                if stored.ignored:
                    ignored[stored.result.student] = stored.ignored
            progress.advance(bar)
    return Batch(
        assignment,
        tuple(sorted(results, key=lambda result: result.student)),
        tuple(sorted(not_graded, key=lambda one: one.student)),
        ignored,
        time.monotonic() - start_s,
    )


def _stored(store: Store, graded: GradedSubmission) -> GradedSubmission | NotGraded:
    try:
        store.add(graded)
    except SubmissionError as error:
        return NotGraded(graded.result.student, str(error))
    return graded


def sharing(result: SubmissionResult, known: dict[CellResult, CellResult]) -> SubmissionResult:
    """
    Return a result that shares its cells with equal ones: a class makes few different ones.

    Parameters
    ----------
    result : SubmissionResult
        A result.
    known : dict of CellResult to CellResult
        Cells of the results before; its own are added.

    Returns
    -------
    SubmissionResult
        An equal result.
    """
    books = (
        replace(book, cells=tuple(known.setdefault(cell, cell) for cell in book.cells))
        for book in result.notebooks
    )
    return replace(result, notebooks=tuple(books))


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
    count, total = len(batch.results), len(batch.results) + len(batch.not_graded)
    waiting = sum(result.needs_manual_grade for result in batch.results)
    line = f"{batch.assignment}: graded {count} of {total} submissions in {batch.elapsed_s:.1f} s"
    console.print(line)
    if waiting:
        console.print(f"* {waiting} of them with an answer that waits for a person")
        console.print("  (start `jupyter lab` here, menu Nbgrader, Formgrader)")
    console.print(f"Scores: {course.gradebook.name}. Next: autograder feedback, report, export.")


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
