"""Grades one notebook, or one submission: the student's cells in the sandbox, the checks here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from autograder.checks.report import report_output, score_output
from autograder.errors import AutograderError, CheckError, CourseError, SubmissionError, nearest
from autograder.handed_in import find_notebooks
from autograder.notebook import copied, read_submitted
from autograder.released import Kind, grade_id_of, strip_hidden, unanswered
from autograder.repair import repair
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
from autograder.sandbox.session import CodeCell, NotebookSession
from autograder.sandbox.zygote import Origin
from autograder.secret import seed_of
from autograder.unreadable import stand_in, without_score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from autograder.checks.plugin import CheckRun
    from autograder.checks.suite import CheckSuite
    from autograder.course import Course
    from autograder.diagnosis import KnownMistakes
    from autograder.findings import Repair
    from autograder.handed_in import HandedIn
    from autograder.notebook import Notebook
    from autograder.released import ReleasedCell, ReleasedNotebook
    from autograder.sandbox.process import Worker
    from autograder.sandbox.sandbox import Sandbox
    from autograder.settings import Settings


@dataclass(frozen=True, slots=True)
class GradedNotebook:
    """
    A notebook after grading.

    Parameters
    ----------
    notebook : dict
        The repaired notebook with outputs and results.
    result : NotebookResult
        The outcome of each grade cell.
    unanswered : frozenset of str
        The solution cells that were left as they were handed out.
    """

    notebook: Notebook
    result: NotebookResult
    unanswered: frozenset[str]

    def after(self, repairs: tuple[Repair, ...]) -> GradedNotebook:
        """Return it with what was put right before it could be repaired."""
        if not repairs:
            return self
        result = replace(self.result, repairs=(*repairs, *self.result.repairs))
        about = self.notebook["metadata"]["autograder"]
        metadata = self.notebook["metadata"] | {
            "autograder": about | {"repairs": [one.to_dict() for one in result.repairs]}
        }
        return replace(self, notebook=self.notebook | {"metadata": metadata}, result=result)


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
        self._sandbox = sandbox or launched(settings, secrets=[course.root])
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
            suite = pool.submit(self._suite, assignment)
            origins = [
                Origin.of([cell.source for cell in book.layout if cell.cell_type == "code"], book.given)
                for book in books
            ]
            self._sandbox.get_ready(origins, self.limits)
            for origin in origins:
                self._sandbox.start(self.limits, origin=origin).close()
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
        folder = self.course.submitted(student, assignment)
        if not folder.is_dir():
            raise CourseError(
                folder, "nothing was handed in", nearest(student, self.course.students(assignment))
            )
        released = self.course.released(assignment)
        timestamp = self.course.handed_in_at(student, assignment)
        found = find_notebooks(folder, released)
        graded = {
            book.name: self._grade_found(assignment, student, book, found)
            for book in released
            if book.name in found.paths or book.name in found.unclear
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

    def _grade_found(
        self, assignment: str, student: str, released: ReleasedNotebook, found: HandedIn
    ) -> GradedNotebook:
        """Grade one notebook of a submission, or tell why it has no score."""
        name = released.name
        if name in found.unclear:
            return self.not_graded(released, found.unclear[name])
        path = found.paths[name]
        repairs = (found.repairs[name],) if name in found.repairs else ()
        try:
            notebook, read = read_submitted(path)
        except SubmissionError as error:
            return self.not_graded(released, f"{path.name}: {error.what}. {error.remedy}", repairs)
        # A notebook in a folder of its own finds there the files that it needs.
        folders = (self.course.submitted(student, assignment), path.parent, self.course.source(assignment))
        return self.grade_notebook(
            assignment,
            name,
            student=student,
            notebook=notebook,
            files=tuple(dict.fromkeys(folders)),
        ).after((*repairs, *read))

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
        self, assignment: str, name: str, *, student: str, notebook: Notebook, files: Sequence[Path] = ()
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
        files : sequence of Path
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
        suite = self._suite(assignment)
        for cell in released.graded:
            _check_hidden(cell, suite)
        seed = seed_of(self.course.secret(), assignment, self._inputs_version, student)
        code = [cell for cell in repaired["cells"] if cell["cell_type"] == "code"]
        checks = {cell.grade_id: cell.hidden_check or "" for cell in released.graded}

        cells = [CodeCell(strip_hidden(cell["source"]), checks.get(grade_id_of(cell), "")) for cell in code]
        origin = Origin.of([cell.source for cell in cells], released.given)

        def start() -> Worker:
            number = int.from_bytes(seed[:4], "big")
            return self._sandbox.start(self.limits, files=files, seed=number, origin=origin)

        with NotebookSession(start, cells, self.limits) as session:
            outputs = session.run()
            shown = {grade_id_of(cell): output for cell, output in zip(code, outputs, strict=True)}
            untouched = unanswered(repaired, released)
            results = []
            for cell in released.graded:
                if cell.kind is Kind.TEST and cell.hidden_check:
                    runs = suite.run(cell.hidden_check, session, seed=seed)
                    results.append(_cell_result(cell, self._diagnosed(assignment, cell, runs)))
                elif cell.kind is Kind.TEST:
                    results.append(_cell_result(cell, (_visible(cell, shown[cell.grade_id]),)))
                else:
                    answered = cell.grade_id not in untouched
                    results.append(_cell_result(cell, answered=answered))
            # Last, and in a process of its own: this one has seen hidden inputs, which a picture could show.
            session.close()
            results = [
                self._illustrated(assignment, checks.get(one.grade_id), one, session) for one in results
            ]
        result = NotebookResult(name=name, cells=tuple(results), repairs=repairs, evidence=evidence)
        return GradedNotebook(_filled(repaired, outputs, result, self.sandbox), result, untouched)

    def _suite(self, assignment: str) -> CheckSuite:
        # pytest takes long to import: only once what student code is forked from has been started.
        from autograder.checks.suite import CheckSuite  # noqa: PLC0415

        if assignment not in self._suites:
            self._suites[assignment] = CheckSuite(assignment)
        return self._suites[assignment]

    def _illustrated(
        self, assignment: str, check: str | None, cell: CellResult, session: NotebookSession
    ) -> CellResult:
        from autograder.checks.illustrating import illustrated  # noqa: PLC0415 - it imports pytest

        try:
            return replace(cell, illustrations=illustrated(assignment, check, cell, session))
        except AutograderError:
            raise
        except Exception:  # noqa: BLE001 - a picture helps; whatever student code answered stops nobody
            return cell

    def _diagnosed(
        self, assignment: str, cell: ReleasedCell, runs: list[CheckRun]
    ) -> tuple[CheckResult, ...]:
        if all(run.result.outcome is Outcome.PASSED for run in runs):
            return tuple(run.result for run in runs)
        if self._mistakes is None:
            from autograder.diagnosis import KnownMistakes  # noqa: PLC0415 - who earns everything does without

            self._mistakes = KnownMistakes(self.course)
        try:
            return tuple(self._mistakes.diagnose(assignment, cell.grade_id, runs))
        except AutograderError:
            raise
        except Exception:  # noqa: BLE001 - a name helps; whatever student code answered stops nobody
            return tuple(run.result for run in runs)


def _check_hidden(cell: ReleasedCell, suite: CheckSuite) -> None:
    """Refuse hidden tests that the engine would not run, or whose points differ from the cell's."""
    if cell.kind is not Kind.TEST:
        return
    if cell.hidden_check is None:
        if strip_hidden(cell.source) != cell.source:
            raise CheckError(
                cell.grade_id,
                "its hidden tests are not a call of run_checks, so they would run beside student code",
                f"Write them as a module {cell.grade_id}.py of checks; call run_checks({cell.grade_id!r}).",
            )
        return
    points = suite.points()
    if cell.hidden_check not in points:
        raise CheckError(
            cell.hidden_check, "there are no such hidden checks", nearest(cell.hidden_check, points)
        )
    if points[cell.hidden_check] != cell.points:
        raise CheckError(
            cell.grade_id,
            f"its checks add up to {points[cell.hidden_check]} points, the cell has {cell.points}",
            "Make them equal.",
        )


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


def _visible(cell: ReleasedCell, outputs: list[dict[str, Any]]) -> CheckResult:
    """Judge a test cell without hidden checks as nbgrader does: by whether it raised."""
    errors = [output["ename"] for output in outputs if output["output_type"] == "error"]
    return CheckResult(
        name=cell.grade_id,
        claim="The tests in the cell pass.",
        points=cell.points,
        outcome=Outcome.FAILED if errors else Outcome.PASSED,
        error=errors[0] if errors else "",
    )


def _filled(
    repaired: Notebook, outputs: list[list[dict[str, Any]]], result: NotebookResult, sandbox: str
) -> Notebook:
    """Return the notebook with outputs, and each grade cell with its result."""
    notebook: Notebook = copied(repaired)
    results = {cell.grade_id: cell for cell in result.cells}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, (cell, shown) in enumerate(zip(code, outputs, strict=True), start=1):
        graded = results.get(grade_id_of(cell))
        if graded is not None and not graded.manual:
            # nbgrader believes the first result it meets, so the score comes first.
            shown = [score_output(graded), report_output(graded), *shown]  # noqa: PLW2901
        cell["execution_count"] = count
        cell["outputs"] = [
            output | {"execution_count": count} if output["output_type"] == "execute_result" else output
            for output in shown
        ]
    for cell in notebook["cells"]:
        if graded := results.get(grade_id_of(cell)):
            cell["metadata"]["autograder"] = graded.to_dict()
    notebook["metadata"]["autograder"] = {
        "repairs": [one.to_dict() for one in result.repairs],
        "evidence": [one.to_dict() for one in result.evidence],
        "sandbox": sandbox,
        "status": result.status.value,
    }
    return notebook
