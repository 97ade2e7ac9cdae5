"""Hidden checks of the worked example: d_model = 512, h = 8."""

from __future__ import annotations

import pytest

from autograder.checks.asserts import Mismatch, assert_integer, is_number
from autograder.checks.student import StudentError, StudentMissing
from solutions.reference import multi_head_attention as reference

D_MODEL, N_HEADS = 512, 8


def assert_answer(answer, expected, own, *, name):
    """Accept the right number; the functions have test cells of their own, and lose points only there."""
    try:
        assert_integer(answer, expected, name=name)
    except Mismatch:
        if not is_carried(answer, own):
            raise


def is_carried(answer, own):
    """Return whether the answer is what the student's own function gives."""
    try:
        carried = own()
    except (StudentError, StudentMissing):
        return False
    return is_number(answer) and type(answer) is type(carried) and answer == carried > 0


@pytest.mark.points("0.25")
def test_size_of_one_head(student):
    """d_k is the number of features of one of the 8 heads."""
    expected = reference.head_dim(D_MODEL, N_HEADS)

    assert_answer(student.d_k, expected, lambda: student.head_dim(D_MODEL, N_HEADS), name="d_k")


@pytest.mark.points("0.5")
def test_parameters_of_eight_heads(student):
    """n_parameters counts all four projections of the layer with 8 heads."""
    expected = reference.parameter_count(D_MODEL, N_HEADS)

    assert_answer(
        student.n_parameters,
        expected,
        lambda: student.parameter_count(D_MODEL, N_HEADS),
        name="n_parameters",
    )


@pytest.mark.points("0.25")
def test_parameters_of_a_single_head(student):
    """n_parameters_single_head counts all four projections of one head with d_k = d_model."""
    expected = reference.single_head_parameter_count(D_MODEL)

    assert_answer(
        student.n_parameters_single_head,
        expected,
        lambda: student.single_head_parameter_count(D_MODEL),
        name="n_parameters_single_head",
    )
