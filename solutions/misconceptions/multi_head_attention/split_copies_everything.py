"""You give every head all d_model columns; a head gets d_k of them."""

import numpy as np

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "How many features do all your heads have together?"


def split_heads(x, n_heads):
    if x.shape[1] % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return np.stack([x for _ in range(n_heads)])
