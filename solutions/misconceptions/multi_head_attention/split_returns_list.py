"""You return a Python list of arrays; the next step needs one array with three axes."""

import numpy as np

FAMILY = "types"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Which numpy function stacks a list of equal arrays along a new axis?"


def split_heads(x, n_heads):
    if x.shape[1] % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return np.split(x, n_heads, axis=1)
