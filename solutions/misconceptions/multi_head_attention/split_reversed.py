"""You number the heads from right to left."""

import numpy as np

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Which head should own column 0?"


def split_heads(x, n_heads):
    d_model = x.shape[1]
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    heads = [x[:, d_model - (i + 1) * d_k : d_model - i * d_k] for i in range(n_heads)]
    return np.array(heads)
