"""You drop the columns that are left over instead of refusing an uneven number of heads."""

import numpy as np

FAMILY = "sizes"
LOSES = "test_split_heads"
CHECK = "test_uneven_heads_are_refused"
HINT = "What becomes of the last column when 7 features meet 2 heads?"


def split_heads(x, n_heads):
    d_k = x.shape[1] // n_heads
    return np.stack([x[:, i * d_k : (i + 1) * d_k] for i in range(n_heads)])
