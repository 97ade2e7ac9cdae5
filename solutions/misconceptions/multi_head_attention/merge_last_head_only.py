"""Your loop writes every head over the one before, so only the last head is left."""

import numpy as np

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "Into which columns does your loop write head i?"


def merge_heads(heads):
    h, T, d_k = heads.shape
    x = np.zeros((T, h * d_k), dtype=heads.dtype)
    for i in range(h):
        x[:, -d_k:] = heads[i]
    return x
