"""You merge into the same array every time, so a second call changes the result of the first."""

import numpy as np

FAMILY = "state"
LOSES = "test_merge_heads"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Merge two different arrays, then look at the first result."


buffers = {}


def merge_heads(heads):
    h, T, d_k = heads.shape
    merged = buffers.setdefault((T, h * d_k), np.empty((T, h * d_k)))
    for i in range(h):
        merged[:, i * d_k : (i + 1) * d_k] = heads[i]
    return merged
