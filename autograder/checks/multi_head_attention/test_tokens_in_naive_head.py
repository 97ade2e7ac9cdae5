"""Hidden checks of `tokens_in_naive_head(n_tokens, d_model, n_heads, head)`."""

from __future__ import annotations

import pytest

from autograder.checks.asserts import assert_integers
from solutions.reference import multi_head_attention as reference


def judge(student, sizes):
    """Accept the right tokens for every head of these sizes."""
    cases = [(*size, head) for size in sizes for head in range(size[2])]
    calls = [student.tokens_in_naive_head.later(*case) for case in cases]
    for (n_tokens, d_model, n_heads, head), call in zip(cases, calls, strict=True):
        expected = reference.tokens_in_naive_head(n_tokens, d_model, n_heads, head)
        assert_integers(call.result(), expected, where=f"Head {head} of {n_heads}, {n_tokens} tokens")


@pytest.mark.points("0.5")
def test_naive_heads_take_whole_tokens(student):
    """If h divides T, head i of the naive split holds the i-th share of the tokens, all their features."""
    judge(student, [(6, 4, 2), (6, 12, 3), (8, 4, 4), (5, 6, 1), (12, 8, 4)])


@pytest.mark.points("0.5")
def test_a_token_may_fall_into_two_naive_heads(student):
    """If h does not divide T, a token is cut, and each head that holds a part of it lists it."""
    judge(student, [(5, 6, 2), (7, 12, 3), (2, 10, 5), (1, 6, 3), (6, 8, 4), (5, 3, 3)])
