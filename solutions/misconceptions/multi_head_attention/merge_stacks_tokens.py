"""You put the heads below each other, which gives h times as many tokens; they belong side by side."""

import numpy as np

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "Along which axis do the features grow?"


def merge_heads(heads):
    return np.concatenate(list(heads), axis=0)
