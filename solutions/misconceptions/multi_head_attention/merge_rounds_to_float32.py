"""You fill a float32 array, so every number loses half of its digits: a merge must not change a number."""

import numpy as np

FAMILY = "types"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "Which dtype has your buffer, and which have the heads?"


def merge_heads(heads):
    h, T, d_k = heads.shape
    merged = np.empty((T, h * d_k), dtype=np.float32)
    for i in range(h):
        merged[:, i * d_k : (i + 1) * d_k] = heads[i]
    return merged
