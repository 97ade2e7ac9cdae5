"""
You split and merge x yourself and never look at the heads that you were given, so the answer is always
yes.
"""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_roundtrip_is_exact"
CHECK = "test_only_a_right_split_comes_back"
HINT = "Where does your function use the numbers in heads?"


def roundtrip_is_exact(x, heads):
    T, d_model = x.shape
    h, _, d_k = heads.shape
    again = x.reshape(T, h, d_k).transpose(1, 0, 2)
    merged = again.transpose(1, 0, 2).reshape(T, d_model)
    return bool(np.array_equal(merged, x))
