"""Arrays with the same numbers in other memory layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def layouts(array: NDArray[Any]) -> list[NDArray[Any]]:
    """
    Return equal arrays that differ only in how they lie in memory.

    Parameters
    ----------
    array : ndarray
        The numbers; it is copied, not changed.

    Returns
    -------
    list of ndarray
        A Fortran-ordered, a non-contiguous and a read-only array.
    """
    padded = np.zeros([2 * size for size in array.shape], array.dtype)
    every_second = padded[tuple(slice(None, None, 2) for _ in array.shape)]
    every_second[...] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    return [np.asfortranarray(array), every_second, read_only]
