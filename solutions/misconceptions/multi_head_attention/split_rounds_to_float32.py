"""You fill a float32 array, so every number loses half of its digits: a split must not change a number."""

import numpy as np

FAMILY = "types"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Which dtype does your buffer have, and which does x have?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    heads = np.zeros((n_heads, T, d_k), dtype=np.float32)
    for i in range(n_heads):
        heads[i] = x[:, i * d_k : (i + 1) * d_k]
    return heads
