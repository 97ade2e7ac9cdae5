"""The command `grade`: a batch with its progress, each submission stored as it comes."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.gradebook import Gradebook
from autograder.grading.batch import Graders, NotGraded
from autograder.grading.holds import Holds
from autograder.grading.planning import Again, Plan, Planner
from autograder.grading.storage import Store
from autograder.progress import progress_bar
from autograder.release import check_release
from autograder.submission.misplaced import misplaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.progress import Progress

    from autograder.results import CellResult, GradedSubmission, SubmissionResult
    from autograder.submission.misplaced import Misplaced

HOLDS = ".autograder/holds"
"""The file of the course in which runs hold submissions."""
_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """
    What became of an assignment's submissions.

    Parameters
    ----------
    assignment : str
        The assignment.
    elapsed_s : float
        Time taken, in seconds.
    results : tuple of SubmissionResult
        Those that were graded now, by student.
    not_graded : tuple of NotGraded
        Those that could not be graded, in whole or in part, now or the last time, by student.
    unchanged : tuple of str
        Students whose submission was graded before and has not changed since.
    ignored : mapping of str to tuple of str
        Notebooks that do not belong to the assignment, by student.
    misplaced : tuple of Misplaced
        What seems to be handed in, but lies where it is not graded.
    """

    assignment: str
    elapsed_s: float
    results: tuple[SubmissionResult, ...] = ()
    not_graded: tuple[NotGraded, ...] = ()
    unchanged: tuple[str, ...] = ()
    ignored: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    misplaced: tuple[Misplaced, ...] = ()

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
            "unchanged": list(self.unchanged),
            "misplaced": [
                {"where": one.where, "what": one.what, "remedy": one.remedy} for one in self.misplaced
            ],
        }
        yield json.dumps(about, ensure_ascii=False)[:-1]
        yield ', "results": ['
        for index, result in enumerate(self.results):
            yield ",\n" if index else "\n"
            yield json.dumps(result.to_dict(), ensure_ascii=False)
        yield "\n]}"


def grade_assignment(
    graders: Graders,
    assignment: str,
    students: Sequence[str],
    *,
    again: Again = Again.NOTHING,
    quiet: bool = False,
) -> Batch:
    """
    Grade an assignment's submissions, and store each as soon as it is graded.

    What is graded already and has not changed is left alone. A submission
    that another run is grading is waited for.

    Parameters
    ----------
    graders : Graders
        The processes that grade; they start if there is something to do.
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
    Batch
        What became of each submission.

    Raises
    ------
    CourseError
        If the release is not up to date.
    OperatorError
        If the machine fails.
    GradebookError
        If the grades cannot be stored.
    """
    course = graders.course
    check_release(course, assignment)
    start_s = time.monotonic()
    with (
        Gradebook(course.db_url) as gradebook,
        Holds(course.root / HOLDS) as holds,
        progress_bar(quiet=quiet) as progress,
    ):
        planner = Planner(course, graders.settings, gradebook, assignment, again=again)
        free = partial(holds.let_go, assignment)
        store = Store(course, gradebook, graders.settings, free)
        run = _Run(graders, assignment, planner, holds, store)
        plan = planner.plan(students)
        if plan.todo:
            run.grade(plan, progress)
        store.update_penalties(assignment)
    return Batch(
        assignment=assignment,
        elapsed_s=time.monotonic() - start_s,
        results=tuple(sorted(run.results, key=lambda result: result.student)),
        not_graded=tuple(sorted((*run.not_graded, *plan.failed), key=lambda one: one.student)),
        unchanged=tuple(sorted((*plan.unchanged, *run.unchanged))),
        ignored=run.ignored,
        misplaced=tuple(misplaced(course, assignment)),
    )


class _Run:
    """One assignment's submissions on their way from held to stored."""

    def __init__(
        self, graders: Graders, assignment: str, planner: Planner, holds: Holds, store: Store
    ) -> None:
        self._graders = graders
        self._assignment = assignment
        self._planner = planner
        self._holds = holds
        self._store = store
        self._known: dict[CellResult, CellResult] = {}
        self.results: list[SubmissionResult] = []
        self.not_graded: list[NotGraded] = []
        self.unchanged: list[str] = []
        self.ignored: dict[str, tuple[str, ...]] = {}

    def grade(self, plan: Plan, progress: Progress) -> None:
        """Grade what a plan says."""
        bar = progress.add_task(self._assignment, total=len(plan.todo))
        waiting = list(plan.todo)
        with self._store:
            while waiting:
                others: list[str] = []
                for graded in self._graders.grade(self._assignment, self._held(waiting, plan, others)):
                    self._keep(graded, plan.todo)
                    progress.advance(bar)
                # While this run waits for another, it must hold nothing that the other may wait for.
                self._store.flush()
                if len(others) == len(waiting):
                    time.sleep(_PAUSE_S)
                waiting = others
                progress.update(bar, completed=len(plan.todo) - len(waiting))

    def _held(self, students: Iterable[str], plan: Plan, others: list[str]) -> Iterator[str]:
        """Yield the students whose submission this run holds now; put those of other runs aside."""
        for student in students:
            if not self._holds.take(self._assignment, student):
                others.append(student)
            elif self._planner.done_meanwhile(student, plan.todo[student]):
                self._holds.let_go(self._assignment, [student])
                self.unchanged.append(student)
            else:
                yield student

    def _keep(self, graded: GradedSubmission | NotGraded, todo: Mapping[str, str]) -> None:
        if isinstance(graded, NotGraded):
            self._fail(graded, todo[graded.student])
            return
        student = graded.result.student
        # What was handed in while it was being graded will be graded the next time.
        fingerprint = self._planner.fingerprint(student)
        try:
            self._store.add(graded, fingerprint if fingerprint == todo[student] else "")
        except SubmissionError as error:
            self._fail(NotGraded(student, str(error)), todo[student])
            return
        self.results.append(sharing(graded.result, self._known))
        if graded.result.failure:
            self.not_graded.append(NotGraded(student, graded.result.failure))
        if graded.ignored:
            self.ignored[student] = graded.ignored

    def _fail(self, failed: NotGraded, fingerprint: str) -> None:
        self.not_graded.append(failed)
        self._store.fail(self._assignment, failed.student, failed.reason, fingerprint)


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
