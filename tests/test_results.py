"""Results: scores stay inside their points, and JSON loses nothing."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from autograder.findings import Evidence, Repair
from autograder.results import (
    CellResult,
    CheckResult,
    NotebookResult,
    Outcome,
    Status,
    SubmissionResult,
)

points = st.decimals("0.01", 20, places=2)
checks = st.builds(
    CheckResult,
    name=st.text(),
    claim=st.text(),
    points=points,
    outcome=st.sampled_from(Outcome),
    rationale=st.text(),
    hint=st.text(),
    error=st.text(),
    misconception=st.text(),
    score=st.none() | st.decimals(0, 20, places=3),
)
cells = st.builds(
    CellResult,
    grade_id=st.text(),
    max_score=points,
    checks=st.lists(checks, max_size=4).map(tuple),
    manual=st.booleans(),
    answered=st.booleans(),
    not_graded=st.text(),
)
notebooks = st.builds(
    NotebookResult,
    name=st.text(),
    status=st.sampled_from(Status),
    cells=st.lists(cells, max_size=3).map(tuple),
    repairs=st.lists(st.from_type(Repair), max_size=2).map(tuple),
    evidence=st.lists(st.from_type(Evidence), max_size=2).map(tuple),
)
submissions = st.builds(
    SubmissionResult,
    assignment=st.text(),
    student=st.text(),
    notebooks=st.lists(notebooks, max_size=3).map(tuple),
    sandbox=st.text(),
)


def check(outcome: Outcome, worth: str = "1") -> CheckResult:
    """Return a check of some outcome."""
    return CheckResult(name="test_it", claim="It holds.", points=Decimal(worth), outcome=outcome)


@given(result=submissions)
def test_json_loses_nothing(result: SubmissionResult) -> None:
    """Reading back what was written gives the same record, points exact."""
    assert SubmissionResult.from_json(result.to_json()) == result


@given(cell=cells)
def test_a_score_lies_inside_the_points(cell: CellResult) -> None:
    """No combination of outcomes gives less than nothing or more than everything."""
    assert cell.auto_score is None or 0 <= cell.auto_score <= cell.max_score


@given(outcomes=st.lists(st.sampled_from(Outcome), min_size=1), place=st.integers(min_value=0))
def test_passing_one_more_check_never_costs_points(outcomes: list[Outcome], place: int) -> None:
    """The score is monotone in the checks."""
    better = list(outcomes)
    better[place % len(better)] = Outcome.PASSED

    before, after = (
        CellResult(grade_id="test_it", max_score=Decimal(len(outcomes)), checks=tuple(map(check, those)))
        for those in (outcomes, better)
    )

    assert before.auto_score is not None
    assert after.auto_score is not None
    assert after.auto_score >= before.auto_score


def test_only_a_pass_earns_points() -> None:
    """A limit, an error and a missing name are not half a pass."""
    earned = {outcome: check(outcome).earned for outcome in Outcome}

    assert earned == {outcome: Decimal(outcome is Outcome.PASSED) for outcome in Outcome}


def test_a_score_of_its_own_counts() -> None:
    """Half a point of one is half a point, also after JSON."""
    half = CheckResult(
        name="test_it", claim="It holds.", points=Decimal(1), outcome=Outcome.FAILED, score=Decimal("0.5")
    )
    cell = CellResult(grade_id="test_it", max_score=Decimal(1), checks=(half,))

    assert (cell.auto_score, cell.outcome) == (Decimal("0.5"), Outcome.FAILED)
    assert CellResult.from_dict(cell.to_dict()) == cell


def test_no_checks_earn_nothing() -> None:
    """Silence is not full marks."""
    nothing = CellResult(grade_id="test_it", max_score=Decimal(3))

    assert (nothing.auto_score, nothing.outcome) == (Decimal(0), Outcome.MISSING)


def test_tenths_add_up_exactly() -> None:
    """Ten checks of 0.1 make 1, which floats would miss."""
    cell = CellResult(
        grade_id="test_it",
        max_score=Decimal(1),
        checks=tuple(check(Outcome.PASSED, "0.1") for _ in range(10)),
    )

    assert cell.auto_score == Decimal(1)


def test_a_written_answer_waits_for_a_person() -> None:
    """An answer has no automatic score; one left as it was handed out has 0."""
    answered = CellResult(grade_id="explain", max_score=Decimal(3), manual=True)
    untouched = CellResult(grade_id="explain", max_score=Decimal(3), manual=True, answered=False)

    assert answered.auto_score is None
    assert answered.needs_manual_grade
    assert untouched.auto_score == 0
    assert not untouched.needs_manual_grade
