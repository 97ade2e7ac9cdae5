"""Hidden checks of `softmax(scores)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks.asserts import assert_allclose
from autograder.checks.effects import assert_same_again, assert_unchanged
from solutions.reference import attention_warmup as reference


def judge(student, cases):
    """Ask about all tables at once, then compare each result; cases are scores and the words for them."""
    calls = [student.softmax.later(scores) for scores, _ in cases]
    for call, (scores, where) in zip(calls, cases, strict=True):
        assert_allclose(call.result(), reference.softmax(scores), where=where)


@pytest.mark.points("1.5")
def test_each_row_is_shared_out(student, rng):
    """A weight is exp(score) divided by the sum of the exponentials in its row."""
    tables = [2 * rng.normal(size=shape) for shape in ((5, 3), (2, 7), (3, 3))]

    judge(student, [(scores, "") for scores in tables])


@pytest.mark.points("0.75")
def test_large_scores_keep_their_differences(student, rng):
    """Only differences within a row count, however large the scores of a row are."""
    scores = rng.normal(size=(4, 5))
    far_apart = scores + np.array([[1000.0], [0], [-1000], [300]])

    judge(
        student,
        [
            (scores + 1000, "With scores around 1000"),
            (scores - 1000, "With scores around -1000"),
            (far_apart, "With rows that are 1000 apart"),
            (np.array([[0.0, 800, 1600]]) + rng.normal(size=(1, 3)), "With scores that are 800 apart"),
        ],
    )


@pytest.mark.points("0.5")
def test_the_last_axis_is_the_row(student, rng):
    """Rows lie along the last axis, with one axis, with two or with three, and a size of 1 is a size too."""
    shapes = {
        "With three axes": (2, 3, 4),
        "With one row and no other axis": (4,),
        "With a single key": (3, 1),
        "With a single query": (1, 4),
    }

    judge(student, [(rng.normal(size=shape), where) for where, shape in shapes.items()])


@pytest.mark.points("0.25")
def test_calls_do_not_disturb_each_other(student, rng):
    """A call changes neither its argument nor the result of an earlier call."""
    first, second = rng.normal(size=(2, 4, 3))

    weights = student.softmax.record(first)

    assert_unchanged(first, weights.args[0], name="its argument scores")
    assert_allclose(weights.result, reference.softmax(first))
    assert_allclose(student.softmax(second), reference.softmax(second), where="In a second call")
    assert_same_again(weights.result, weights.reread(), when="after a second call")
