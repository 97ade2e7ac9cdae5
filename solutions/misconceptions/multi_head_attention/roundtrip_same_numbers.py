"""You sort before you compare, so every shuffle of the right numbers passes."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_roundtrip_is_exact"
CHECK = "test_only_a_right_split_comes_back"
HINT = "Does it matter where a number is?"


def roundtrip_is_exact(x, heads):
    return bool(np.array_equal(np.sort(x.ravel()), np.sort(heads.ravel())))
