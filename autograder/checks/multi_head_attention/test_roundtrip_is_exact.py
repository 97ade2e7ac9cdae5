"""Hidden checks of `roundtrip_is_exact(x, heads)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks.asserts import assert_bool
from solutions.reference import multi_head_attention as reference


def judge(student, cases):
    """Ask about all pairs first, so that the answers tell one mistake from another, then judge each."""
    calls = [student.roundtrip_is_exact.later(x, heads) for x, heads, _, _ in cases]
    for call, (_, _, expected, case) in zip(calls, cases, strict=True):
        assert_bool(call.result(), expected=expected, case=case)


@pytest.mark.points("0.5")
def test_only_a_right_split_comes_back(student, rng):
    """The answer is True for a right split, and False for one that puts numbers in the wrong place."""
    x = rng.permutation(np.arange(30.0)).reshape(5, 6)
    reversed_heads = reference.split_heads(x, 2)[::-1].copy()
    one_token = rng.normal(size=(1, 6))

    judge(
        student,
        [
            (x, reference.split_heads(x, 2), True, "a right split"),
            (x, x.reshape(2, 5, 3), False, "a split by reshape alone"),
            (x, reversed_heads, False, "heads in reverse order"),
            (one_token, reference.split_heads(one_token, 3), True, "a right split of a single token"),
        ],
    )


@pytest.mark.points("0.5")
def test_close_is_not_exact(student, rng):
    """A single number that is off in its last digit is enough for False."""
    x = rng.normal(size=(5, 6))
    heads = reference.split_heads(x, 2)
    cases = [(x, heads, True, "a right split")]
    for place, towards in (((0, 0, 0), np.inf), ((1, 4, 2), -np.inf)):
        nudged = heads.copy()
        nudged[place] = np.nextafter(nudged[place], towards)
        cases.append((x, nudged, False, "one number off in its last digit"))

    judge(student, cases)
