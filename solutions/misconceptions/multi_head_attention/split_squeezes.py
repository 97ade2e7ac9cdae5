"""
You squeeze the result, so an axis disappears whenever there is one token, one head or one feature per
head.
"""

import numpy as np

FAMILY = "sizes"
LOSES = "test_split_heads"
CHECK = "test_sizes_that_coincide_do_not_matter"
HINT = "What is the shape of your result for a single head?"


def split_heads(x, n_heads):
    if x.shape[1] % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return np.squeeze(np.stack(np.split(x, n_heads, axis=1)))
