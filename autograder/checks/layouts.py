"""Arrays with the same numbers in every memory layout that numpy knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def layouts(array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """
    Return equal arrays that differ only in how they lie in memory.

    Parameters
    ----------
    array : ndarray
        The numbers; it is copied, not changed.

    Returns
    -------
    dict of str to ndarray
        A Fortran-ordered, a non-contiguous and a read-only array, by the case
        that a student reads.
    """
    padded = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
    every_second = padded[tuple(slice(None, None, 2) for _ in array.shape)]
    every_second[...] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    return {
        "In Fortran order": np.asfortranarray(array),
        "Not contiguous in memory": every_second,
        "Read-only": read_only,
    }
