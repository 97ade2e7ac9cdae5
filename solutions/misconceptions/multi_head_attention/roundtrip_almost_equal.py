"""You accept numbers that are only close; a roundtrip moves numbers and must give back exactly the same."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_roundtrip_is_exact"
CHECK = "test_close_is_not_exact"
HINT = "Is a tiny difference still an exact roundtrip?"


def roundtrip_is_exact(x, heads):
    h, T, d_k = heads.shape
    merged = heads.transpose(1, 0, 2).reshape(T, h * d_k)
    return merged.shape == x.shape and np.allclose(merged, x)
