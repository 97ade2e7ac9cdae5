"""Hidden checks of `head_dim(d_model, n_heads)`."""

from __future__ import annotations

import pytest

from autograder.checks.asserts import assert_integer, assert_number
from autograder.checks.effects import assert_refused, assert_returned
from autograder.checks.student import StudentError
from solutions.reference import multi_head_attention as reference


@pytest.mark.points("0.5")
def test_heads_share_the_features(student, rng):
    """Each head gets d_model / n_heads features."""
    sizes = [(n_heads * int(rng.integers(5, 100)), n_heads) for n_heads in (2, 3, 7, 1)]
    calls = [student.head_dim.later(*size) for size in sizes]

    for size, call in zip(sizes, calls, strict=True):
        assert_number(call.result(), reference.head_dim(*size))


@pytest.mark.points("0.25")
def test_size_is_an_integer(student, rng):
    """The size of a head is an integer, because it becomes part of a shape."""
    d_model = 7 * int(rng.integers(5, 100))

    assert_integer(student.head_dim(d_model, 7), reference.head_dim(d_model, 7))


@pytest.mark.points("0.25")
def test_uneven_heads_are_refused(student):
    """A number of heads that does not divide d_model raises an exception."""
    even = student.head_dim.later(12, 3)
    uneven = {size: student.head_dim.later(*size) for size in ((7, 2), (4096, 7), (3, 5))}

    assert_returned(even.result())
    for (d_model, n_heads), call in uneven.items():
        assert_refused(call.result, StudentError, case=f"{n_heads} heads for {d_model} features")
