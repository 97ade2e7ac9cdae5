"""Hidden checks of `roundtrip_is_exact(x, heads)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks.asserts import assert_bool
from solutions.reference import multi_head_attention as reference


@pytest.mark.points("0.5")
def test_only_a_right_split_comes_back(student, rng):
    """The answer is True for a right split, and False for one that puts numbers in the wrong place."""
    roundtrip_is_exact = student.roundtrip_is_exact
    x = rng.permutation(np.arange(30.0)).reshape(5, 6)
    naive = x.reshape(2, 5, 3)
    reversed_heads = reference.split_heads(x, 2)[::-1].copy()
    one_token = rng.normal(size=(1, 6))

    assert_bool(roundtrip_is_exact(x, reference.split_heads(x, 2)), expected=True, case="a right split")
    assert_bool(roundtrip_is_exact(x, naive), expected=False, case="a split by reshape alone")
    assert_bool(roundtrip_is_exact(x, reversed_heads), expected=False, case="heads in reverse order")
    assert_bool(
        roundtrip_is_exact(one_token, reference.split_heads(one_token, 3)),
        expected=True,
        case="a right split of a single token",
    )


@pytest.mark.points("0.5")
def test_close_is_not_exact(student, rng):
    """A single number that is off in its last digit is enough for False."""
    roundtrip_is_exact = student.roundtrip_is_exact
    x = rng.normal(size=(5, 6))
    heads = reference.split_heads(x, 2)

    assert_bool(roundtrip_is_exact(x, heads), expected=True, case="a right split")
    for place in ((0, 0, 0), (1, 4, 2)):
        nudged = heads.copy()
        nudged[place] = np.nextafter(nudged[place], np.inf)
        result = roundtrip_is_exact(x, nudged)
        assert_bool(result, expected=False, case="one number off in its last digit")
