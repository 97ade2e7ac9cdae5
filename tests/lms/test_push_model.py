"""The words that all pushes share: when two scores are one, and what a row sends."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.lms.model import Lms
from autograder.lms.push.model import (
    TOLERANCE,
    Action,
    Outcome,
    Plan,
    Row,
    State,
    failures,
    same_score,
    score_text,
)

SCORES = st.decimals(-100, 1000, places=4)


@given(one=SCORES, other=SCORES)
def test_scores_are_the_same_within_half_of_the_last_decimal(one: Decimal, other: Decimal) -> None:
    """Whichever way they are written, and whoever is asked first."""
    same = abs(one - other) <= TOLERANCE

    assert same_score(one, other) is same_score(str(other), one) is same
    assert same_score(one, one)


@given(score=SCORES)
def test_a_float_is_the_number_that_it_is_written_as(score: Decimal) -> None:
    """0.1 is no longer number; a binary fraction must not make 9.505 differ from itself."""
    assert same_score(float(score), score)
    assert same_score(float(score) + 0.005, score) is (
        Decimal(str(float(score) + 0.005)) - score <= TOLERANCE
    )


@pytest.mark.parametrize("none", [None, ""])
def test_no_score_is_no_zero(none: str | None) -> None:
    """To compare them as numbers would make missing work graded."""
    assert not same_score(none, 0)
    assert not same_score("0", none)
    assert same_score(none, "")
    assert score_text(none) == ""


@pytest.mark.parametrize(
    "nonsense", ["nan", "inf", "-inf", "abc", float("nan"), float("inf"), "9,5", "1 000"]
)
def test_what_is_no_number_is_the_same_as_nothing(nonsense: str | float) -> None:
    """Not even as itself; and it is shown as what it is."""
    assert not same_score(nonsense, nonsense)
    assert not same_score(nonsense, None)
    assert score_text(nonsense) == "?"


@pytest.mark.parametrize(
    ("score", "text"), [(9.5, "9.5"), ("10.00", "10"), (0, "0"), (1e3, "1000"), (-0.0, "0"), (2.345, "2.35")]
)
def test_a_score_is_shown_without_noise(score: float | str, text: str) -> None:
    """As few decimals as it needs, at most two."""
    assert score_text(score) == text


@pytest.mark.parametrize("action", Action)
def test_a_row_sends_only_where_something_is_sent(action: Action) -> None:
    """What is blocked or left out has no parts, whatever it holds."""
    page = Path("index.html")
    row = Row(student="ana", action=action, after="9.5", comment="Well done", file=page)
    sends = action in {Action.SEND, Action.CLEAR}

    assert row.changes_score is sends
    assert row.parts == (("score", "comment", "file") if sends else ())


def test_a_plan_counts_and_knows_what_is_to_send() -> None:
    """Rows keep their order."""
    actions = [Action.SEND, Action.SKIP, Action.CLEAR, Action.SEND, Action.BLOCKED]
    rows = tuple(Row(student=f"s{at}", action=action) for at, action in enumerate(actions))
    plan = Plan(lms=Lms.CANVAS, where="HW", rows=rows)

    assert [row.student for row in plan.to_send] == ["s0", "s2", "s3"]
    assert plan.counts() == {Action.SEND: 2, Action.SKIP: 1, Action.CLEAR: 1, Action.BLOCKED: 1}
    outcomes = [Outcome(row=row, state=state) for row, state in zip(rows, State, strict=False)]
    assert [one.state for one in failures(outcomes)] == [State.FAILED]
