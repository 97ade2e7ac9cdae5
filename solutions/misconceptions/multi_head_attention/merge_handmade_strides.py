"""You compute the strides by hand as if the heads were stored one after the other; a view need not be."""

import numpy as np

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_every_kind_of_array_is_merged_alike"
HINT = "Ask the array for its strides, or let numpy move the axes."


def merge_heads(heads):
    h, T, d_k = heads.shape
    size = heads.itemsize
    strides = (d_k * size, T * d_k * size, size)
    by_token = np.lib.stride_tricks.as_strided(heads, shape=(T, h, d_k), strides=strides)
    return by_token.reshape(T, h * d_k)
