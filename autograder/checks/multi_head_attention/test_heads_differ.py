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


def judge(student, cases):
    """Ask about all maps first, so that the answers tell one mistake from another, then judge each."""
    calls = [student.heads_differ.later(attn) for attn, _, _ in cases]
    for call, (_, expected, case) in zip(calls, cases, strict=True):
        assert_bool(call.result(), expected=expected, case=case)


@pytest.mark.points("0.5")
def test_copies_are_told_from_different_heads(student, rng):
    """The answer is True if all heads differ, and False if all are copies."""
    attn = maps(rng, 2, 5)
    open_maps = reference.softmax(rng.normal(size=(2, 3, 3)))

    judge(
        student,
        [
            (attn, True, "two different heads"),
            (attn[[0, 0]], False, "two equal heads"),
            (maps(rng, 4, 3), True, "four different heads"),
            (open_maps, True, "two heads without a mask"),
        ],
    )


@pytest.mark.points("0.25")
def test_every_pair_of_heads_counts(student, rng):
    """One pair of equal heads is enough for False, wherever it stands; a single head has no copy."""
    attn = maps(rng, 3, 5)
    pairs = ([0, 0, 1], [0, 1, 0], [0, 1, 1])

    judge(
        student,
        [
            (attn, True, "three different heads"),
            *((attn[pair], False, "three heads of which two are equal") for pair in pairs),
            (attn[:1], True, "a single head"),
        ],
    )


@pytest.mark.points("0.25")
def test_one_different_row_is_enough(student, rng):
    """Heads that differ in a single row are no copies, even if they look at the same key first."""
    attn = maps(rng, 1, 5)[[0, 0]]
    attn[:, 4] = [[0.5, 0.1, 0.2, 0.1, 0.1], [0.5, 0.2, 0.1, 0.1, 0.1]]

    judge(
        student,
        [
            (attn, True, "heads that differ in a single row"),
            (attn[[1, 1]], False, "two equal heads"),
        ],
    )
