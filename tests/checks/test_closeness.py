"""What the assertions call close is what numpy calls close, in every dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.checks.asserts import EXACT, FLOAT32, FLOAT64, Mismatch, Tolerance, assert_allclose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

DTYPES = [np.int8, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64, np.longdouble]


def finite(dtype: Any) -> st.SearchStrategy[Array]:
    """Return arrays of numbers, the smallest and the largest included."""
    elements = arrays.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False)
    return arrays.arrays(dtype, 4, elements=elements)


def is_accepted(array: Array, expected: Array, tolerance: Tolerance) -> bool:
    """Return whether `assert_allclose` lets an array pass."""
    try:
        assert_allclose(array, expected, tolerance)
    except Mismatch:
        return False
    return True


@pytest.mark.parametrize("tolerance", [EXACT, FLOAT32, FLOAT64], ids=str)
@given(array=st.sampled_from(DTYPES).flatmap(finite), data=st.data(), near=st.booleans())
def test_close_is_what_numpy_calls_close(
    array: Array, data: st.DataObject, tolerance: Tolerance, *, near: bool
) -> None:
    """For numbers of any size, and for differences that are nearly as large as the tolerance."""
    with np.errstate(all="ignore"):
        values = array.astype(np.float64)
        step = np.array([0, 0.99, 1.01, -0.99]) * (tolerance.atol + tolerance.rtol * np.abs(values))
        expected = values + step if near else data.draw(finite(np.int64) | finite(np.float64))
        assume(np.isfinite(expected).all())
        # np.isclose turns integers into float64 first, and so takes the largest for their neighbours.
        assume(tolerance != EXACT or max(np.abs(values).max(), np.abs(expected * 1.0).max()) < 2**53)

        right = np.isclose(array, expected, rtol=tolerance.rtol, atol=tolerance.atol).all()
        assert is_accepted(array, expected, tolerance) == right


def test_the_least_integer_is_as_large_as_it_is() -> None:
    """Its absolute value is no int64; taken there, it would be a negative tolerance."""
    least = np.array([np.iinfo(np.int64).min])

    assert is_accepted(least.astype(np.float64) * (1 - 1e-4), least, FLOAT32)
    assert not is_accepted(least.astype(np.float64) * (1 - 1e-2), least, FLOAT32)
