"""Grades one notebook, or one submission: the student's cells in the sandbox, the checks here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self

from autograder.course.released import Kind, grade_id_of, unanswered
from autograder.course.secret import seed_of
from autograder.errors import AutograderError, CheckError, nearest
from autograder.grader import classic
from autograder.grader.filled import GradedNotebook, filled
from autograder.results import (
    CellResult,
    CheckResult,
    GradedSubmission,
    NotebookResult,
    Outcome,
    SubmissionResult,
)
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import launched
from autograder.sandbox.session import NotebookSession
from autograder.sandbox.zygote import Origin
from autograder.submission.handed_in import find_notebooks
from autograder.submission.repair import repair
from autograder.submission.unreadable import stand_in, without_score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal
    from pathlib import Path

    from autograder.checks.plugin import CheckRun
    from autograder.checks.suite import CheckSuite
    from autograder.course.course import Course
    from autograder.course.released import ReleasedCell, ReleasedNotebook
    from autograder.course.settings import Settings
    from autograder.diagnosis import KnownMistakes
    from autograder.files import Beside
    from autograder.findings import Repair
    from autograder.notebook import Notebook
    from autograder.sandbox.sandbox import Sandbox
    from autograder.sandbox.session import CodeCell
    from autograder.submission.handed_in import HandedIn

    Files = Sequence[Path | Beside]


class Grader:
    """
    Grades notebooks of one course; a context manager.

    It keeps what is costly to start: pytest's session, the sandbox's warm
    processes, the known misconceptions. One notebook at a time.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        Its settings.
    sandbox : Sandbox, optional
        Where student code runs; the grader closes it. By default a new one.
    """

    def __init__(self, course: Course, settings: Settings, sandbox: Sandbox | None = None) -> None:
        self.course = course
        self.limits = Limits.of(settings)
        self._inputs_version = settings.inputs_version
        self._sandbox = sandbox or launched(settings, secrets=course.layout.guarded)
        self._suites: dict[str, CheckSuite] = {}
        self._mistakes: KnownMistakes | None = None

    @property
    def sandbox(self) -> str:
        """What stands around student code, as it is noted in every result."""
        return f"tier {self._sandbox.wall.tier}"

    def __enter__(self) -> Self:
        """Return the grader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release what was kept."""
        self.close()

    def close(self) -> None:
        """End pytest's sessions and all student processes."""
        for suite in self._suites.values():
            suite.close()
        self._suites.clear()
        self._sandbox.close()

    def prepare(self, assignment: str) -> None:
        """
        Start what grading an assignment needs, before there is anything to grade.

        Parameters
        ----------
        assignment : str
            The assignment.

        Raises
        ------
        CourseError
            If the assignment, its release or its checks are at fault.
        OperatorError
            If the machine fails.
        """
        books = self.course.released(assignment)
        with ThreadPoolExecutor(1) as pool:
            # What student code is forked from gets ready in a process of its own meanwhile.
            is_needed = any(cell.hidden_check for book in books for cell in book.graded)
            suite = pool.submit(self._suite, assignment) if is_needed else None
            origins = [
                Origin.of([cell.source for cell in book.layout if cell.cell_type == "code"], book.given)
                for book in books
            ]
            self._sandbox.get_ready(origins, self.limits)
            for origin in origins:
                self._sandbox.start(self.limits, origin=origin).close()
            if suite is not None:
                suite.result()

    def grade_submission(self, assignment: str, student: str) -> GradedSubmission:
        """
        Grade everything a student handed in for an assignment.

        Parameters
        ----------
        assignment : str
            The assignment.
        student : str
            The student's id.

        Returns
        -------
        GradedSubmission
            The result and the graded notebooks. Nothing is written.

        Raises
        ------
        SubmissionError
            If the folder cannot be read; the others of the class can be graded.
        CourseError
            If the assignment, its release or its checks are at fault.
        OperatorError
            If the machine fails.
        """
        folder = self.course.handed_in(student, assignment)
        released = self.course.released(assignment)
        timestamp = self.course.handed_in_at(student, assignment)
        found = find_notebooks(folder, released)
        graded = {
            book.name: self.grade_found(assignment, student, book.name, found)
            for book in released
            if book.name in found.names
        }
        results = tuple(
            graded[book.name].result if book.name in graded else book.not_handed_in() for book in released
        )
        return GradedSubmission(
            {name: book.notebook for name, book in graded.items()},
            SubmissionResult(assignment=assignment, student=student, notebooks=results, sandbox=self.sandbox),
            {name: book.unanswered for name, book in graded.items()},
            timestamp,
            found.ignored,
        )

    def grade_found(self, assignment: str, student: str, name: str, found: HandedIn) -> GradedNotebook:
        """
        Grade one notebook of a submission, or tell why it has no score.

        Parameters
        ----------
        assignment, student : str
            The submission.
        name : str
            The notebook; one of `found.names`.
        found : HandedIn
            What was handed in.

        Returns
        -------
        GradedNotebook
            As of `grade_notebook`, which says what is raised, or of `not_graded`.
        """
        notebook, repairs, reason = found.read(name)
        if notebook is None:
            return self.not_graded(self.course.released_notebook(assignment, name), reason, repairs)
        # A notebook in a folder of its own finds there the files that it needs.
        files = self.course.layout.beside(student, assignment, found.paths[name].parent)
        return self.grade_notebook(
            assignment,
            name,
            student=student,
            notebook=notebook,
            files=files,
        ).after(repairs)

    def not_graded(
        self, released: ReleasedNotebook, reason: str, repairs: tuple[Repair, ...] = ()
    ) -> GradedNotebook:
        """
        Return what stands for a notebook that cannot be read.

        Parameters
        ----------
        released : ReleasedNotebook
            What was handed out.
        reason : str
            Why it is not graded, and what to do.
        repairs : tuple of Repair
            What was put right all the same.

        Returns
        -------
        GradedNotebook
            A notebook with the reason in it, and a result without a score.
        """
        result = without_score(released, reason, repairs)
        return GradedNotebook(stand_in(released, result, reason, self.sandbox), result, frozenset())

    def grade_notebook(
        self,
        assignment: str,
        name: str,
        *,
        student: str,
        notebook: Notebook,
        files: Files = (),
    ) -> GradedNotebook:
        """
        Grade one notebook as it was handed in.

        Parameters
        ----------
        assignment, name : str
            The assignment, and the notebook's name without suffix.
        student : str
            The student's id, which seeds the checks.
        notebook : dict
            What was handed in; it is repaired first.
        files : sequence of Path or Beside
            Folders with the files that lie beside it; the last one wins.

        Returns
        -------
        GradedNotebook
            The notebook with outputs and results.

        Raises
        ------
        CourseError
            If the assignment, its release or its checks are at fault.
        OperatorError
            If the machine fails.
        """
        released = self.course.released_notebook(assignment, name)
        repaired, repairs, evidence = repair(notebook, released)
        self._check_hidden(assignment, released)
        seed = seed_of(self.course.secret(), assignment, self._inputs_version, student)
        code = [cell for cell in repaired["cells"] if cell["cell_type"] == "code"]
        names = [grade_id_of(cell) for cell in code]

        session_of = partial(self._session, released=released, files=files, seed=seed)

        with session_of(_placed(classic.shown_cells(code, released), repaired, released)) as session:
            outputs = session.run()
            checked = self._checked(assignment, released, session, seed)
            session.close()
            # What is hidden runs in a process whose outputs nobody sees.
            with session_of(classic.judged_cells(code, released)) as judging:
                judging.run()
            tests = classic.judge(released, names, session.runs, judging.runs)
            untouched = unanswered(repaired, released)
            results = tuple(
                checked.get(cell.grade_id)
                or tests.results.get(cell.grade_id)
                or _cell_result(cell, answered=cell.grade_id not in untouched)
                for cell in released.graded
            )
            # Last, and in a process of its own: that of the checks has seen hidden inputs.
            results = tuple(self._illustrated(assignment, one, released, session) for one in results)
        outputs = classic.without_part_scores(released, names, outputs)
        # Code may wait for the hidden lines before it does what looks like tampering.
        seen = dict.fromkeys((*evidence, *tests.evidence, *session.evidence(), *judging.evidence()))
        result = NotebookResult(name=name, cells=results, repairs=repairs, evidence=tuple(seen))
        return GradedNotebook(filled(repaired, outputs, result, self.sandbox), result, untouched)

    def _session(
        self, cells: Sequence[CodeCell], *, released: ReleasedNotebook, files: Files, seed: bytes
    ) -> NotebookSession:
        """Return a session that runs these cells, each time in a new process."""
        origin = Origin.of([cell.source for cell in cells], released.given)
        number = int.from_bytes(seed[:4], "big")
        start = partial(self._sandbox.start, self.limits, files=files, seed=number, origin=origin)
        return NotebookSession(start, cells, self.limits)

    def _checked(
        self, assignment: str, released: ReleasedNotebook, session: NotebookSession, seed: bytes
    ) -> dict[str, CellResult]:
        """Return the results of the test cells with hidden checks, by grade_id."""
        results = {}
        for cell in released.graded:
            if cell.kind is Kind.TEST and cell.hidden_check:
                runs = self._suite(assignment).run(cell.hidden_check, session, seed=seed)
                results[cell.grade_id] = _cell_result(
                    cell, self._diagnosed(assignment, released.name, cell.grade_id, runs)
                )
        return results

    def _check_hidden(self, assignment: str, released: ReleasedNotebook) -> None:
        """Refuse test cells that cannot be graded as they are."""
        for cell in released.graded:
            if cell.kind is Kind.TEST:
                classic.check_cell(cell)
                if cell.hidden_check:
                    _check_points(cell, self._suite(assignment).points())

    def _suite(self, assignment: str) -> CheckSuite:
        # pytest takes long to import: only once what student code is forked from has been started.
        from autograder.checks.suite import CheckSuite  # noqa: PLC0415

        if assignment not in self._suites:
            self._suites[assignment] = CheckSuite(assignment)
        return self._suites[assignment]

    def _illustrated(
        self, assignment: str, cell: CellResult, released: ReleasedNotebook, session: NotebookSession
    ) -> CellResult:
        check = released.cell(cell.grade_id).hidden_check
        if check is None:
            return cell
        from autograder.checks.illustrating import illustrated  # noqa: PLC0415 - it imports pytest

        try:
            return replace(cell, illustrations=illustrated(assignment, check, cell, session))
        except AutograderError:
            raise
        except Exception:  # noqa: BLE001 - a picture helps; whatever student code answered stops nobody
            return cell

    def _diagnosed(
        self, assignment: str, notebook: str, grade_id: str, runs: list[CheckRun]
    ) -> tuple[CheckResult, ...]:
        if all(run.result.outcome is Outcome.PASSED for run in runs):
            return tuple(run.result for run in runs)
        if self._mistakes is None:
            from autograder.diagnosis import KnownMistakes  # noqa: PLC0415 - who earns everything does without

            self._mistakes = KnownMistakes(self.course)
        try:
            return tuple(self._mistakes.diagnose(assignment, notebook, grade_id, runs))
        except AutograderError:
            raise
        except Exception:  # noqa: BLE001 - a name helps; whatever student code answered stops nobody
            return tuple(run.result for run in runs)


def _check_points(cell: ReleasedCell, points: Mapping[str, Decimal]) -> None:
    """Refuse a test cell without its checks, or whose points differ from theirs."""
    name = cell.hidden_check or ""
    if name not in points:
        raise CheckError(name, "there are no such hidden checks", nearest(name, points))
    if points[name] != cell.points:
        raise CheckError(
            cell.grade_id,
            f"its checks add up to {points[name]} points, the cell has {cell.points}",
            "Make them equal.",
        )


def _placed(cells: Sequence[CodeCell], notebook: Notebook, released: ReleasedNotebook) -> list[CodeCell]:
    """Return the code cells of a notebook with what to call them, and whether students had a part in them."""
    numbered = enumerate(notebook["cells"], start=1)
    places = [
        grade_id_of(cell) or f"cell {number}" for number, cell in numbered if cell["cell_type"] == "code"
    ]
    given = {released.rules.visible(cell.source) for cell in released.layout}
    return [
        replace(cell, where=where, given=cell.source in given)
        for cell, where in zip(cells, places, strict=True)
    ]


def _cell_result(
    cell: ReleasedCell, checks: tuple[CheckResult, ...] = (), *, answered: bool = True
) -> CellResult:
    return CellResult(
        grade_id=cell.grade_id,
        max_score=cell.points,
        checks=checks,
        manual=cell.kind.manual,
        answered=answered,
    )
