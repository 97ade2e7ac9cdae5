"""Hidden checks of `heads_differ(attn)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks.multi_head_attention.yes_or_no import judge
from solutions.reference import multi_head_attention as reference


def maps(rng, n_heads, n_tokens):
    """Return causal attention maps of that many different heads."""
    hidden = np.triu(np.ones((n_tokens, n_tokens), dtype=bool), k=1)
    scores = rng.normal(size=(n_heads, n_tokens, n_tokens))
    return reference.softmax(np.where(hidden, -np.inf, scores))


def maps_of(n_heads, n_tokens, case):
    """Return a kind of question about different heads."""
    return lambda rng: ((maps(rng, n_heads, n_tokens),), True, case)


def copies(pattern, n_tokens, case):
    """Return a kind of question about heads of which some are copies: those with the same number."""
    return lambda rng: ((maps(rng, max(pattern) + 1, n_tokens)[pattern],), False, case)


def without_mask(rng):
    """Return the maps of two different heads that see the future."""
    return (reference.softmax(rng.normal(size=(2, 3, 3))),), True, "two heads without a mask"


def one_row_differs(rng):
    """Return the maps of two heads that differ in the last row, and not in its best key."""
    attn = maps(rng, 1, 5)[[0, 0]]
    attn[:, 4] = [[0.5, 0.1, 0.2, 0.1, 0.1], [0.5, 0.2, 0.1, 0.1, 0.1]]
    return (attn,), True, "heads that differ in a single row"


TWO_EQUAL = copies([0, 0], 5, "two equal heads")


@pytest.mark.points("0.5")
def test_copies_are_told_from_different_heads(student, rng):
    """The answer is True if all heads differ, and False if all are copies."""
    different = [maps_of(2, 5, "two different heads"), maps_of(4, 3, "four different heads"), without_mask]

    judge(student.heads_differ, rng, [*different, TWO_EQUAL])


@pytest.mark.points("0.25")
def test_every_pair_of_heads_counts(student, rng):
    """One pair of equal heads is enough for False, wherever it stands; a single head has no copy."""
    different = [maps_of(3, 5, "three different heads"), maps_of(1, 5, "a single head")]
    pairs = ([0, 0, 1], [0, 1, 0], [0, 1, 1])

    judge(
        student.heads_differ,
        rng,
        [*different, *(copies(pair, 5, "three heads of which two are equal") for pair in pairs)],
    )


@pytest.mark.points("0.25")
def test_one_different_row_is_enough(student, rng):
    """Heads that differ in a single row are no copies, even if they look at the same key first."""
    judge(student.heads_differ, rng, [one_row_differs] * 3 + [TWO_EQUAL] * 2)
