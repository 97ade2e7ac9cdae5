"""You only look for numbers that became larger; one that became smaller differs as well."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_roundtrip_is_exact"
CHECK = "test_close_is_not_exact"
HINT = "Which comparison asks for equal?"


def roundtrip_is_exact(x, heads):
    merged = np.concatenate(list(heads), axis=1)
    return not (merged > x).any()
