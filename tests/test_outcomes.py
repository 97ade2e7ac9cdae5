"""How a check or a cell ended is told in words, in the notebook's own report as well."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal

import pytest

from autograder.checks.outcomes import LIMITS, OUTCOMES, cell_outcome, check_outcome
from autograder.checks.report import report_html, report_text
from autograder.results import CellResult, CheckResult, Outcome
from autograder.sandbox.limits import Limits

CHECK = CheckResult(name="c", claim="It holds.", points=Decimal(1), outcome=Outcome.PASSED)
OF_CHECKS = [one for one in Outcome if one not in {Outcome.MANUAL, Outcome.NOT_GRADED}]


def cell(*checks: CheckResult, **details: object) -> CellResult:
    """Return a cell with these checks."""
    return CellResult(grade_id="test_it", max_score=Decimal(3), checks=checks, **details)  # type: ignore[arg-type]


def test_every_outcome_and_every_limit_has_words_of_its_own() -> None:
    """Two ways to end that are called the same cannot be told apart."""
    assert set(OUTCOMES) == set(Outcome)
    assert set(LIMITS) == {field.name for field in fields(Limits)}
    told = [*OUTCOMES.values(), *LIMITS.values()]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("limit", [*LIMITS, "no limit of ours"])
def test_a_limit_is_told_by_what_it_limits(limit: str) -> None:
    """Time, memory and files are mended in different ways; no setting's name is in the words."""
    words = check_outcome(replace(CHECK, outcome=Outcome.LIMIT, error=limit))

    assert words.startswith("stopped by ")
    assert "_" not in words


def test_a_cell_is_told_by_its_worst_check() -> None:
    """One check that ran out of memory says more of a cell than three wrong results."""
    wrong = replace(CHECK, outcome=Outcome.FAILED)
    stopped = replace(CHECK, outcome=Outcome.LIMIT, error="memory_mib")

    assert cell_outcome(cell(CHECK, wrong, stopped, wrong)) == "stopped by the memory limit"
    assert cell_outcome(cell(CHECK, wrong)) == "wrong result"
    assert cell_outcome(cell(CHECK)) == "passed"
    assert cell_outcome(cell(manual=True)) == "graded by hand"
    assert cell_outcome(cell(not_graded="It breaks off.")) == "could not be graded"


@pytest.mark.parametrize("outcome", OF_CHECKS)
def test_the_report_in_the_notebook_tells_how_each_check_ended(outcome: Outcome) -> None:
    """Formgrader and nbgrader's own feedback show nothing else."""
    check = replace(CHECK, outcome=outcome, rationale="What was <found>.")

    text, page = report_text(cell(check)), report_html(cell(check))

    words = OUTCOMES[outcome].capitalize() + ". What was "
    assert (f"{words}<found>." in text) is (outcome is not Outcome.PASSED)
    assert (f"{words}&lt;found&gt;." in page) is (outcome is not Outcome.PASSED)


def test_a_part_of_a_checks_points_is_told() -> None:
    """Partial credit is neither all nor nothing."""
    half = replace(CHECK, outcome=Outcome.FAILED, score=Decimal("0.5"))

    assert "test_it: 0.5 of 3 points" in report_text(cell(half))
    assert "[0.5/1]" in report_text(cell(half))


def test_a_cell_that_could_not_be_graded_has_no_score_in_its_report() -> None:
    """A zero would be read as one; the reason is what helps."""
    one = cell(CHECK, not_graded="it breaks off at line <12>. Hand it in again.")

    assert report_text(one) == "test_it: could not be graded: it breaks off at line <12>. Hand it in again."
    assert "line &lt;12&gt;" in report_html(one)
    assert "of 3" not in report_text(one) + report_html(one)
