"""You return one answer for every number; the question is about all of them together."""

import numpy as np

FAMILY = "types"
LOSES = "test_roundtrip_is_exact"
CHECK = "test_only_a_right_split_comes_back"
HINT = "How many answers does == give for two arrays?"


def roundtrip_is_exact(x, heads):
    merged = np.concatenate(list(heads), axis=1)
    return merged == x
