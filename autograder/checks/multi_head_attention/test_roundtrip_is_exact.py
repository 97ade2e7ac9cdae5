"""Hidden checks of `roundtrip_is_exact(x, heads)`."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from autograder.checks.multi_head_attention.yes_or_no import judge
from solutions.reference import multi_head_attention as reference


def right_split(rng):
    """Return five tokens and their right split into two heads."""
    x = rng.normal(size=(5, 6))
    return (x, reference.split_heads(x, 2)), True, "a right split"


def single_token(rng):
    """Return one token and its right split into three heads."""
    x = rng.normal(size=(1, 6))
    return (x, reference.split_heads(x, 3)), True, "a right split of a single token"


def reshaped(rng):
    """Return five tokens and a split that mixes them."""
    x = rng.normal(size=(5, 6))
    return (x, x.reshape(2, 5, 3)), False, "a split by reshape alone"


def reversed_heads(rng):
    """Return five tokens and their heads, the last one first."""
    x = rng.normal(size=(5, 6))
    return (x, reference.split_heads(x, 2)[::-1].copy()), False, "heads in reverse order"


def nudged(rng, place, towards):
    """Return five tokens and their right split, but for a number that is the next one in a direction."""
    x = rng.normal(size=(5, 6))
    heads = reference.split_heads(x, 2)
    heads[place] = np.nextafter(heads[place], towards)
    return (x, heads), False, "one number off in its last digit"


@pytest.mark.points("0.5")
def test_only_a_right_split_comes_back(student, rng):
    """The answer is True for a right split, and False for one that puts numbers in the wrong place."""
    judge(student.roundtrip_is_exact, rng, [right_split, single_token, reshaped, reversed_heads])


@pytest.mark.points("0.5")
def test_close_is_not_exact(student, rng):
    """A single number that is off in its last digit is enough for False."""
    larger = partial(nudged, place=(0, 0, 0), towards=np.inf)
    smaller = partial(nudged, place=(1, 4, 2), towards=-np.inf)

    judge(student.roundtrip_is_exact, rng, [right_split, larger, smaller])
