"""You compute the strides by hand as if x were stored row by row; a view or a transposed array is not."""

import numpy as np

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_every_kind_of_array_is_split_alike"
HINT = "Where could you get the strides of x, instead of computing them?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    size = x.itemsize
    strides = (d_k * size, d_model * size, size)
    return np.lib.stride_tricks.as_strided(x, (n_heads, T, d_k), strides).copy()
