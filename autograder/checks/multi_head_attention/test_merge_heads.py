"""Hidden checks of `merge_heads(heads)`."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks.asserts import assert_array_equal
from autograder.checks.effects import assert_same_again, assert_unchanged
from autograder.checks.layouts import layouts
from solutions.reference import multi_head_attention as reference


def judge(student, cases):
    """Ask about all heads at once, then compare each result; cases are heads and the words for them."""
    calls = [student.merge_heads.later(heads) for heads, _ in cases]
    for call, (heads, where) in zip(calls, cases, strict=True):
        assert_array_equal(call.result(), reference.merge_heads(heads), where=where)


@pytest.mark.points(1)
def test_heads_stand_side_by_side(student, rng):
    """Row t of the result holds token t of head 0, then of head 1, and so on."""
    judge(student, [(rng.normal(size=shape), "") for shape in ((2, 5, 3), (3, 7, 2))])


@pytest.mark.points("0.5")
def test_sizes_that_coincide_do_not_matter(student, rng):
    """The merge is right for one token, one head or one feature, and where two sizes are equal."""
    shapes = {
        "With one token": (2, 1, 3),
        "With one head": (1, 5, 3),
        "With one feature for each head": (3, 5, 1),
        "With as many tokens as heads": (3, 3, 2),
        "With as many tokens as features of a head": (2, 3, 3),
        "With as many heads as features of a head": (4, 5, 4),
        "With one token, head and feature": (1, 1, 1),
    }

    judge(student, [(rng.normal(size=shape), where) for where, shape in shapes.items()])


@pytest.mark.points("0.25")
def test_every_kind_of_array_is_merged_alike(student, rng):
    """Only the numbers of the heads matter, neither their dtype nor how they lie in memory."""
    heads = rng.normal(size=(3, 5, 2))
    others = (rng.integers(-99, 99, size=heads.shape), heads.astype(np.float32))

    judge(
        student,
        [
            *((array, "In another memory layout") for array in layouts(heads)),
            *((array, f"With numbers of {array.dtype}") for array in others),
        ],
    )


@pytest.mark.points("0.25")
def test_calls_do_not_disturb_each_other(student, rng):
    """A call changes neither its argument nor the result of an earlier call."""
    merge_heads = student.merge_heads
    first, second = rng.normal(size=(2, 2, 5, 4))

    merged = merge_heads.record(first)

    assert_unchanged(first, merged.args[0], name="its argument heads")
    assert_array_equal(merged.result, reference.merge_heads(first))
    assert_array_equal(merge_heads(second), reference.merge_heads(second), where="In a second call")
    assert_same_again(merged.result, merged.reread(), when="after a second call")
