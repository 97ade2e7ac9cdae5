"""Hidden checks of `heads_differ(attn)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks.asserts import assert_bool
from solutions.reference import multi_head_attention as reference


def maps(rng, n_heads, n_tokens):
    """Return causal attention maps of that many different heads."""
    hidden = np.triu(np.ones((n_tokens, n_tokens), dtype=bool), k=1)
    scores = rng.normal(size=(n_heads, n_tokens, n_tokens))
    return reference.softmax(np.where(hidden, -np.inf, scores))


@pytest.mark.points("0.5")
def test_copies_are_told_from_different_heads(student, rng):
    """The answer is True if all heads differ, and False if all are copies."""
    heads_differ = student.heads_differ
    attn = maps(rng, 2, 5)

    assert_bool(heads_differ(attn), expected=True, case="two different heads")
    assert_bool(heads_differ(attn[[0, 0]]), expected=False, case="two equal heads")
    assert_bool(heads_differ(maps(rng, 4, 3)), expected=True, case="four different heads")


@pytest.mark.points("0.25")
def test_every_pair_of_heads_counts(student, rng):
    """One pair of equal heads is enough for False, wherever it stands; a single head has no copy."""
    heads_differ = student.heads_differ
    attn = maps(rng, 3, 5)

    assert_bool(heads_differ(attn), expected=True, case="three different heads")
    for pair in ([0, 0, 1], [0, 1, 0], [0, 1, 1]):
        assert_bool(heads_differ(attn[pair]), expected=False, case="three heads of which two are equal")
    assert_bool(heads_differ(attn[:1]), expected=True, case="a single head")


@pytest.mark.points("0.25")
def test_one_different_row_is_enough(student, rng):
    """Heads that differ in a single row are no copies, even if they look at the same key first."""
    heads_differ = student.heads_differ
    attn = maps(rng, 1, 5)[[0, 0]]
    attn[:, 4] = [[0.5, 0.1, 0.2, 0.1, 0.1], [0.5, 0.2, 0.1, 0.1, 0.1]]

    assert_bool(heads_differ(attn), expected=True, case="heads that differ in a single row")
    assert_bool(heads_differ(attn[[1, 1]]), expected=False, case="two equal heads")
