"""What arrives damaged is graded for what it is worth, and everything is told: by the real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import damaged_cells
import damaged_files
import damaged_marks
import pytest
from course_copies import copy_course
from damaged import CASES, NAMES, RELEASE, RELEASED, SOLVED, Case, write_course

from autograder.course.released import Kind
from autograder.findings import EvidenceKind, RepairKind
from autograder.graded import read_result
from autograder.grader.grader import Grader
from autograder.grading.storage import write_files
from autograder.results import CellResult, Outcome
from autograder.submission.repair import repair
from autograder.variants import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.results import GradedSubmission

ASSIGNMENT = "multi_head_attention"
FROM_THE_FILE = {
    EvidenceKind.LOCKED_CELL,
    EvidenceKind.SKIP_TAG,
    EvidenceKind.POINTS,
    EvidenceKind.HIDDEN_TESTS,
    EvidenceKind.RESULTS,
}
"""What the cells tell before they are run; the rest has tests of its own."""


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    """Return a grader for all cases, because it takes seconds to warm up."""
    course = copy_course(tmp_path_factory.mktemp("damaged") / "course")
    write_course(course.root)
    with Grader(course, course.settings(wall_time_s=1.0)) as grader:
        yield grader


def grade(grader: Grader, name: str) -> GradedSubmission:
    """Hand in a case and grade it."""
    CASES[name].submission().write(grader.course.submitted(name, ASSIGNMENT))
    return grader.grade_submission(ASSIGNMENT, name)


def shown(cell: CellResult) -> str:
    """Return a score as the cases write it."""
    if cell.outcome is Outcome.NOT_GRADED:
        return "none"
    return "waits" if cell.auto_score is None else f"{cell.auto_score.normalize():f}"


@pytest.mark.sandbox
@pytest.mark.parametrize("name", CASES)
def test_a_damaged_submission_gets_what_it_is_worth(grader: Grader, name: str) -> None:
    """Status, score of every cell, what was repaired, what looks unusual, and why there is no score."""
    case: Case = CASES[name]
    graded = grade(grader, name)
    books = graded.result.notebooks
    reasons = {cell.not_graded for book in books for cell in book.cells} - {""}

    assert {book.name: book.status for book in books} == case.status
    assert {cell.grade_id: shown(cell) for book in books for cell in book.cells} == case.scores
    assert {(one.kind, one.where) for book in books for one in book.repairs} == case.repairs
    assert {
        (one.kind, one.severity, one.where)
        for book in books
        for one in book.evidence
        if one.kind in FROM_THE_FILE
    } == case.evidence
    assert all(case.reason in reason for reason in reasons)
    assert bool(reasons) == bool(case.reason)
    assert graded.ignored == case.ignored
    write_files(grader.course, graded)
    assert read_result(grader.course, ASSIGNMENT, name) == graded.result


def test_the_cases_are_many_and_of_every_kind() -> None:
    """A kind of repair, or of evidence from the file, that no case has is one that nobody tried."""
    repairs = {kind for case in CASES.values() for kind, _ in case.repairs}
    evidence = {kind for case in CASES.values() for kind, _, _ in case.evidence}

    assert len(CASES) >= 60
    assert {case.damage.__module__ for case in CASES.values()} == {
        module.__name__ for module in (damaged_cells, damaged_files, damaged_marks)
    }
    # Formats and huge outputs have tests of their own.
    assert set(RepairKind) - repairs == {RepairKind.FORMAT, RepairKind.OUTPUTS}
    assert evidence == FROM_THE_FILE


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solved", [True, False])
def test_honest_work_gives_no_repair_and_no_evidence(name: str, *, solved: bool) -> None:
    """Of every notebook, untouched or filled in: a note must mean something."""
    notebook = fill(RELEASE[name], SOLVED[name]) if solved else RELEASE[name]

    _, repairs, evidence = repair(notebook, RELEASED[name])

    assert (repairs, evidence) == ((), ())


@pytest.mark.parametrize("name", CASES)
def test_evidence_shows_no_hidden_line(name: str) -> None:
    """It is read by staff, and may be passed on."""
    hidden = {
        line.strip()
        for released in RELEASED.values()
        for cell in released.cells
        if cell.kind is Kind.TEST
        for line in set(cell.source.split("\n")) - set(cell.released.split("\n"))
    } - {""}
    assert hidden
    for book_name, book in CASES[name].submission().books.items():
        _, repairs, evidence = repair(book, RELEASED[book_name])
        details = [*(one.detail for one in repairs), *(one.detail for one in evidence)]

        assert not [line for line in hidden for detail in details if line in detail]
        assert max((len(one.detail) for one in evidence), default=0) <= 600
