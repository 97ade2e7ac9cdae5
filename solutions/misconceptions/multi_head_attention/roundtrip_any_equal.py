"""You ask whether any number is equal; exact means that all of them are."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_roundtrip_is_exact"
CHECK = "test_close_is_not_exact"
HINT = "Which is stricter, .any() or .all()?"


def roundtrip_is_exact(x, heads):
    merged = np.concatenate(list(heads), axis=1)
    return merged.shape == x.shape and bool((merged == x).any())
