"""
The softmax in float64, written for reading: one row after the other.

The hidden checks compare students' results with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def softmax(scores: Array) -> Array:
    """
    Return weights that are positive and sum to one along the last axis.

    Parameters
    ----------
    scores : ndarray, shape (..., n)
        Finite real numbers.

    Returns
    -------
    ndarray of float64
        Of the same shape: exp(score) divided by the sum over the last axis.
    """
    weights = np.empty(scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        row = scores[place].astype(np.float64)
        # Only differences count: with the largest at 0, no exponential overflows.
        exponentials = np.exp(row - row.max())
        weights[place] = exponentials / exponentials.sum()
    return weights
