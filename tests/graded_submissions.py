"""Graded submissions to store, without running anything, by the kit and by nbgrader."""

from __future__ import annotations

import warnings
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.checks.report import report_output, score_output
from autograder.course.course import Course
from autograder.course.late import METHODS
from autograder.course.released import Kind, grade_id_of, unanswered
from autograder.gradebook import Gradebook
from autograder.notebook import read_notebook
from autograder.results import CellResult, CheckResult, NotebookResult, Outcome, Status, SubmissionResult
from autograder.submission.repair import repair

if TYPE_CHECKING:
    from autograder.course.released import ReleasedCell, ReleasedNotebook
    from autograder.notebook import Notebook

ROOT = Path(__file__).parent.parent
ASSIGNMENT = "multi_head_attention"
COURSE = Course(root=ROOT)
IN_TIME = datetime(2026, 11, 1, 12)  # noqa: DTZ001 - nbgrader's times are naive, in UTC
DUE = datetime(2026, 11, 2, 12)  # noqa: DTZ001 - the same
LATE = datetime(2026, 11, 2, 13, 30)  # noqa: DTZ001 - the same


def address(book: Path | str) -> str:
    """Return the address of a gradebook, given its file or its address."""
    return book if isinstance(book, str) else f"sqlite:///{book}"


def cell_result(cell: ReleasedCell, share: str, *, answered: bool = True) -> CellResult:
    """Return a result that earns a share of a test cell's points."""
    if cell.kind is Kind.MANUAL:
        return CellResult(grade_id=cell.grade_id, max_score=cell.points, manual=True, answered=answered)
    parts = (
        (Outcome.PASSED, cell.points * Decimal(share)),
        (Outcome.FAILED, cell.points * (1 - Decimal(share))),
    )
    checks = tuple(CheckResult(name=one, claim="c", points=points, outcome=one) for one, points in parts)
    return CellResult(grade_id=cell.grade_id, max_score=cell.points, checks=checks)


def graded(released: ReleasedNotebook, share: str, *, answered: bool) -> tuple[Notebook, NotebookResult]:
    """Return an autograded notebook as the engine makes it, and its result, without running anything."""
    notebook = read_notebook(COURSE.release(ASSIGNMENT) / f"{released.name}.ipynb")
    kinds = {cell.grade_id: cell.kind for cell in released.cells}
    for cell in notebook["cells"]:
        if answered and kinds.get(grade_id_of(cell)) in {Kind.SOLUTION, Kind.MANUAL}:
            cell["source"] += "\n# answered"
    notebook, repairs, evidence = repair(notebook, released)
    result = NotebookResult(
        name=released.name,
        cells=tuple(cell_result(cell, share, answered=answered) for cell in released.graded),
        repairs=repairs,
        evidence=evidence,
    )
    results = {cell.grade_id: cell for cell in result.cells}
    for cell in notebook["cells"]:
        record = results.get(grade_id_of(cell))
        if record is not None and not record.manual:
            cell["outputs"] = [score_output(record), report_output(record)]
    return notebook, result


class Submission:
    """A graded submission, to be stored by the kit and by nbgrader."""

    def __init__(self, student: str, share: str = "0.5", *, answered: bool = True, missing: str = "") -> None:
        self.student = student
        self.notebooks: dict[str, Notebook] = {}
        self.unanswered: dict[str, frozenset[str]] = {}
        results = []
        for released in COURSE.released(ASSIGNMENT):
            notebook, result = graded(released, share, answered=answered)
            if released.name == missing:
                cells = tuple(cell_result(cell, "0", answered=False) for cell in released.graded)
                results.append(NotebookResult(name=released.name, status=Status.MISSING, cells=cells))
                continue
            self.notebooks[released.name] = notebook
            self.unanswered[released.name] = unanswered(notebook, released)
            results.append(result)
        self.result = SubmissionResult(assignment=ASSIGNMENT, student=student, notebooks=tuple(results))

    def store(self, book: Path | str, timestamp: datetime | None = None, late_penalty: str = "none") -> None:
        """Store it with the kit."""
        with Gradebook(address(book)) as gradebook:
            gradebook.store(
                self.result,
                timestamp=timestamp,
                unanswered=self.unanswered,
                late_penalty=METHODS[late_penalty],
            )

    def store_with_nbgrader(
        self, book: Path | str, timestamp: datetime | None = None, late_penalty: str = "none"
    ) -> None:
        """Store it as `nbgrader autograde` does after it has executed the cells."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _store_with_nbgrader(self, address(book), timestamp, late_penalty)


def _store_with_nbgrader(
    submission: Submission, db_url: str, timestamp: datetime | None, late_penalty: str
) -> None:
    import nbformat  # noqa: PLC0415 - it takes seconds
    from nbgrader.api import Gradebook as Stock  # noqa: PLC0415
    from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades  # noqa: PLC0415
    from traitlets.config import Config  # noqa: PLC0415

    config = Config()
    config.LateSubmissionPlugin.penalty_method = late_penalty
    with Stock(db_url, ASSIGNMENT) as gradebook:
        gradebook.update_or_create_student(submission.student)
        details = {"timestamp": timestamp} if timestamp else {}
        gradebook.update_or_create_submission(ASSIGNMENT, submission.student, **details)
        for book in gradebook.find_assignment(ASSIGNMENT).notebooks:
            if book.name not in submission.notebooks:
                mine = gradebook.find_submission_notebook(book.name, ASSIGNMENT, submission.student)
                for grade in mine.grades:
                    grade.auto_score, grade.needs_manual_grade = 0, False
                gradebook.db.commit()
    for name, notebook in submission.notebooks.items():
        names = {"notebook": name, "assignment": ASSIGNMENT, "student": submission.student, "db_url": db_url}
        node = nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]
        SaveAutoGrades(config=config).preprocess(node, {"nbgrader": names})
        AssignLatePenalties(config=config).preprocess(node, {"nbgrader": names})
