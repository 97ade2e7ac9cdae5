"""You put the heads side by side from right to left."""

import numpy as np

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "Which head should fill the first columns?"


def merge_heads(heads):
    return np.concatenate([heads[i] for i in range(len(heads) - 1, -1, -1)], axis=1)
