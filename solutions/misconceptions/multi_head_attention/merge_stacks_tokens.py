"""You put the heads below each other, which gives h times as many tokens; they belong side by side."""

import numpy as np

LOSES = "test_merge_heads"
HINT = "Along which axis do the features grow?"


def merge_heads(heads):
    return np.concatenate(list(heads), axis=0)
