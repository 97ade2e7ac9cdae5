"""
You write every result of one shape into the same array, so a second call changes the result of the
first.
"""

import numpy as np

FAMILY = "state"
LOSES = "test_split_heads"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Keep the first result, call again with other numbers, and look at the first one."

_buffers = {}


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    heads = _buffers.setdefault((n_heads, T, d_k, x.dtype), np.empty((n_heads, T, d_k), x.dtype))
    heads[:] = x.reshape(T, n_heads, d_k).transpose(1, 0, 2)
    return heads
