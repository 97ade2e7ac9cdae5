"""The page that turns an assert cell into a check: its code does what it says, word for word."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.checks.report import report_text
from autograder.checks.suite import CheckSuite, LocalNames
from autograder.diagnosis import Misconception, diagnose
from autograder.errors import NotebookError
from autograder.grader.classic import check_cell, is_classic
from autograder.notebook import read_notebook
from autograder.results import CellResult
from autograder.variants import load_variants, program
from solutions.reference import attention_warmup as reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.checks.plugin import CheckRun
    from autograder.course.course import Course
    from autograder.variants import Variant

PAGE = Path(__file__).parents[1] / "docs" / "from-assert-to-check.md"
ASSIGNMENT, CELL = "attention_warmup", "test_attention_weights"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
REFERENCE, CHECKS, LINES, MISTAKE, MORE = (text for language, text in BLOCKS if language)

# The known mistakes of the page, by the name of their file.
FILES = re.split(r"^# (\w+\.py)\n", MORE, flags=re.MULTILINE)[1:]
MISTAKES = {"weights_set_to_zero.py": MISTAKE} | dict(zip(FILES[::2], FILES[1::2], strict=True))


@pytest.fixture(scope="module")
def notebook(shared_course: Course) -> dict[str, Any]:
    """Return the instructor's notebook."""
    path = next(shared_course.source(ASSIGNMENT).glob("*.ipynb"))
    return read_notebook(path, error=NotebookError)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckSuite]:
    """Return the checks of the page, with the reference of the page."""
    root = tmp_path_factory.mktemp("checks")
    (root / ASSIGNMENT).mkdir()
    (root / ASSIGNMENT / f"{CELL}.py").write_text(CHECKS, encoding="utf-8")
    names = dict(vars(reference))
    exec(REFERENCE, names)  # noqa: S102 - the page's code
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "attention_weights", names["attention_weights"], raising=False)
        with CheckSuite(ASSIGNMENT, root=root) as suite:
            yield suite


def lost(runs: list[CheckRun]) -> set[str]:
    """Return the names of the checks that are lost."""
    return {run.result.name for run in runs if not run.result.earned}


def test_the_cell_is_the_one_that_the_page_is_about(shared_course: Course, suite: CheckSuite) -> None:
    """It is a classic one with hidden lines and as many points; afterwards it is none."""
    cell = shared_course.released(ASSIGNMENT)[0].cell(CELL)
    visible = cell.rules.visible(cell.source)

    assert is_classic(cell)
    assert visible != cell.source
    assert suite.points() == {CELL: cell.points}
    assert cell.rules.hidden_check(visible + LINES) == CELL
    assert cell.rules.visible(visible + LINES).strip() == visible.strip()
    check_cell(cell)


@pytest.mark.parametrize("seed", [b"ana", b"bo"])
def test_the_solution_earns_everything(suite: CheckSuite, notebook: dict[str, Any], seed: bytes) -> None:
    """For every student's numbers."""
    assert lost(suite.run(CELL, LocalNames(program(notebook)()), seed=seed)) == set()


@pytest.fixture(scope="module")
def mistakes(shared_course: Course) -> list[Variant]:
    """Return the known mistakes of the page."""
    folder = shared_course.solutions / "misconceptions" / ASSIGNMENT
    for name, text in MISTAKES.items():
        (folder / name).write_text(text, encoding="utf-8")
    variants = load_variants(shared_course.root, "misconceptions", ASSIGNMENT)
    for name in MISTAKES:
        (folder / name).unlink()
    return [one for one in variants if f"{one.name}.py" in MISTAKES]


def test_each_check_catches_a_mistake(
    suite: CheckSuite, notebook: dict[str, Any], mistakes: list[Variant]
) -> None:
    """Who follows the page has no check that no mistake needs."""
    caught = {
        one.check
        for one in mistakes
        if one.check in lost(suite.run(CELL, LocalNames(program(notebook, one)()), seed=b"ana"))
    }

    assert caught == set(re.findall(r"^def (test_\w+)", CHECKS, flags=re.MULTILINE))


def test_the_known_mistake_reads_as_the_page_says(
    suite: CheckSuite, notebook: dict[str, Any], mistakes: list[Variant]
) -> None:
    """It is caught by the check that it names, and called by its name, beside the others."""
    mistake = next(one for one in mistakes if one.name == "weights_set_to_zero")
    runs = suite.run(CELL, LocalNames(program(notebook, mistake)()), seed=b"ana")
    known = [Misconception(one.name, one.claim, one.hint, program(notebook, one)) for one in mistakes]
    results = diagnose(runs, known, program(notebook))
    cell = CellResult(grade_id=CELL, max_score=Decimal(2), checks=tuple(results))

    assert mistake.check in lost(runs)
    assert _outline(report_text(cell)) == BLOCKS[-1][1].splitlines()


def _outline(report: str) -> list[str]:
    """Return a report without what was found in each check: that depends on the drawn numbers."""
    return [line for line in report.split("\n") if not line.startswith("      ")]
