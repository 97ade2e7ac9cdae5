"""You count in 32-bit integers, which wrap around silently when the layer is large."""

import numpy as np

FAMILY = "types"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "What is the largest number a 32-bit integer can hold?"


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    shapes = np.array([[d_model, d_model]] * 4, dtype=np.int32)
    return int((shapes[:, 0] * shapes[:, 1]).sum(dtype=np.int32))
