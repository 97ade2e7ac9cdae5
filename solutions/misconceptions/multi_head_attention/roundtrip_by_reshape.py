"""
You merge by reshape alone, so heads that were only reshaped look right and rightly split heads look
wrong.
"""

import numpy as np

FAMILY = "layout"
LOSES = "test_roundtrip_is_exact"
CHECK = "test_only_a_right_split_comes_back"
HINT = "Row t of the merged array must hold token t of every head."


def roundtrip_is_exact(x, heads):
    return bool(np.array_equal(heads.reshape(x.shape), x))
