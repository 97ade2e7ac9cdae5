"""Hidden checks of `parameter_count(d_model, n_heads)` and `single_head_parameter_count(d_model)`."""

from __future__ import annotations

import pytest

from autograder.checks.asserts import Mismatch, assert_integer, is_number
from autograder.checks.effects import assert_refused, assert_returned
from autograder.checks.student import StudentError, StudentMissing
from solutions.reference import multi_head_attention as reference

WIDE = 2**16
"""Features of a layer with more weights than a 32-bit integer can count."""


def is_carried(student, count, d_model, n_heads):
    """Return whether a count is right for the size of a head that the student's own head_dim gives."""
    try:
        d_k = student.head_dim(d_model, n_heads)
    except (StudentError, StudentMissing):
        return False
    if not is_number(d_k) or d_k <= 0 or not is_number(count):
        return False
    carried = 4 * d_model * n_heads * d_k
    # Infinite heads would make infinity the right count of everything.
    return bool(count == carried < float("inf")) and isinstance(count, float) == isinstance(carried, float)


def assert_count(student, count, d_model, n_heads):
    """Accept the right count; head_dim has its own test cell, and its mistakes cost points only there."""
    try:
        assert_integer(count, reference.parameter_count(d_model, n_heads))
    except Mismatch:
        if not is_carried(student, count, d_model, n_heads):
            raise


@pytest.mark.points(1)
def test_all_four_projections_are_counted(student, rng):
    """The total counts the query, key, value and output projections of all heads together."""
    sizes = [*((n_heads * int(rng.integers(5, 100)), n_heads) for n_heads in (3, 5, 1)), (WIDE, 8)]
    calls = [student.parameter_count.later(*size) for size in sizes]

    for size, call in zip(sizes, calls, strict=True):
        assert_count(student, call.result(), *size)


@pytest.mark.points("0.5")
def test_one_head_has_an_output_projection_too(student, rng):
    """A single head with d_k = d_model has the same four kinds of projections, W_O included."""
    widths = (1, *map(int, rng.integers(5, 500, size=2)), WIDE)
    calls = [student.single_head_parameter_count.later(d_model) for d_model in widths]

    for d_model, call in zip(widths, calls, strict=True):
        assert_count(student, call.result(), d_model, 1)


@pytest.mark.points("0.5")
def test_uneven_heads_are_refused(student):
    """A number of heads that does not divide d_model raises an exception."""
    even = student.parameter_count.later(12, 3)
    uneven = {size: student.parameter_count.later(*size) for size in ((7, 2), (4096, 7), (9, 4))}

    assert_returned(even.result())
    for (d_model, n_heads), call in uneven.items():
        try:
            assert_refused(call.result, StudentError, case=f"{n_heads} heads for {d_model} features")
        except Mismatch:
            if not is_carried(student, call.result(), d_model, n_heads):
                raise
