"""You change the caller's array: after the call, x itself has other numbers in it."""

import numpy as np

FAMILY = "state"
LOSES = "test_split_heads"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Print x before and after the call."


def split_heads(x, n_heads):
    d_model = x.shape[1]
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    heads = []
    for _ in range(n_heads):
        heads.append(x[:, :d_k].copy())
        if x.flags.writeable:
            x[:] = np.roll(x, -d_k, axis=1)
        else:
            x = np.roll(x, -d_k, axis=1)
    x[:, :d_k] = 0
    return np.stack(heads)
