"""Hidden checks of `split_heads(x, n_heads)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks.asserts import assert_array_equal
from autograder.checks.effects import assert_refused, assert_returned, assert_same_again, assert_unchanged
from autograder.checks.layouts import layouts
from autograder.checks.student import StudentError
from solutions.reference import multi_head_attention as reference


def judge(student, cases):
    """Ask about all cases at once, then compare each result; a case is x, n_heads and the words for it."""
    calls = [student.split_heads.later(x, n_heads) for x, n_heads, _ in cases]
    for call, (x, n_heads, where) in zip(calls, cases, strict=True):
        assert_array_equal(call.result(), reference.split_heads(x, n_heads), where=where)


@pytest.mark.points("1.25")
def test_each_head_owns_its_own_columns(student, rng):
    """Head i holds columns i·d_k to (i+1)·d_k of every token, in shape (h, T, d_k)."""
    judge(student, [(rng.normal(size=(5, 6)), 2, ""), (rng.normal(size=(7, 6)), 3, "")])


@pytest.mark.points("0.5")
def test_sizes_that_coincide_do_not_matter(student, rng):
    """The split is right for one token, one head or one feature, and where two sizes are equal."""
    sizes = {
        "With one token": (1, 2, 3),
        "With one head": (5, 1, 3),
        "With one feature for each head": (5, 3, 1),
        "With as many tokens as heads": (3, 3, 2),
        "With as many tokens as features of a head": (3, 2, 3),
        "With as many heads as features of a head": (5, 4, 4),
        "With as many tokens as features": (6, 2, 3),
        "With one token, head and feature": (1, 1, 1),
    }

    judge(
        student,
        [
            (rng.normal(size=(n_tokens, n_heads * d_k)), n_heads, where)
            for where, (n_tokens, n_heads, d_k) in sizes.items()
        ],
    )


@pytest.mark.points("0.5")
def test_every_kind_of_array_is_split_alike(student, rng):
    """Only the numbers of x matter, neither their dtype nor how they lie in memory."""
    x = rng.normal(size=(7, 10))
    others = (rng.integers(-99, 99, size=x.shape), x.astype(np.float32))

    judge(
        student,
        [
            *((array, 5, "In another memory layout") for array in layouts(x)),
            *((array, 5, f"With numbers of {array.dtype}") for array in others),
        ],
    )


@pytest.mark.points("0.5")
def test_calls_do_not_disturb_each_other(student, rng):
    """A call changes neither its argument nor the result of an earlier call."""
    split_heads = student.split_heads
    first, second = rng.normal(size=(2, 5, 8))

    split = split_heads.record(first, 2)

    assert_unchanged(first, split.args[0], name="its argument x")
    assert_array_equal(split.result, reference.split_heads(first, 2))
    assert_array_equal(split_heads(second, 2), reference.split_heads(second, 2), where="In a second call")
    assert_same_again(split.result, split.reread(), when="after a second call")


@pytest.mark.points("0.25")
def test_uneven_heads_are_refused(student, rng):
    """A number of heads that does not divide d_model raises an exception."""
    even = student.split_heads.later(rng.normal(size=(3, 8)), 2)
    uneven = {
        (d_model, n_heads): student.split_heads.later(rng.normal(size=(n_tokens, d_model)), n_heads)
        for n_tokens, d_model, n_heads in ((3, 7, 2), (4, 10, 4), (5, 3, 5))
    }

    assert_returned(even.result())
    for (d_model, n_heads), call in uneven.items():
        assert_refused(call.result, StudentError, case=f"{n_heads} heads for {d_model} features")
