"""Hidden checks of `head_dim(d_model, n_heads)`."""

from __future__ import annotations

from functools import partial

import pytest

from autograder.checks.asserts import assert_integer, assert_number
from autograder.checks.effects import assert_refused, assert_returned
from autograder.checks.student import StudentError
from solutions.reference import multi_head_attention as reference


@pytest.mark.points("0.5")
def test_heads_share_the_features(student, rng):
    """Each head gets d_model / n_heads features."""
    head_dim = student.head_dim
    for n_heads in (2, 3, 7, 1):
        d_model = n_heads * int(rng.integers(5, 100))
        assert_number(head_dim(d_model, n_heads), reference.head_dim(d_model, n_heads))


@pytest.mark.points("0.25")
def test_size_is_an_integer(student, rng):
    """The size of a head is an integer, because it becomes part of a shape."""
    d_model = 7 * int(rng.integers(5, 100))

    assert_integer(student.head_dim(d_model, 7), reference.head_dim(d_model, 7))


@pytest.mark.points("0.25")
def test_uneven_heads_are_refused(student):
    """A number of heads that does not divide d_model raises an exception."""
    head_dim = student.head_dim
    assert_returned(head_dim(12, 3))

    for d_model, n_heads in ((7, 2), (4096, 7), (3, 5)):
        assert_refused(
            partial(head_dim, d_model, n_heads),
            StudentError,
            case=f"{n_heads} heads for {d_model} features",
        )
