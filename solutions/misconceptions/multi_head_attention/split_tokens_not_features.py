"""You divide the tokens among the heads; heads share all tokens and divide the features."""

import numpy as np

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "How many tokens does one of your heads see?"


def split_heads(x, n_heads):
    if x.shape[1] % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return np.stack(np.split(x, n_heads, axis=0))
