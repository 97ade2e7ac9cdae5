"""Cuts off one head and leaves the rest to itself."""

import numpy as np


def pieces(x, d_k):
    if x.shape[1] == 0:
        return []
    return [x[:, :d_k], *pieces(x[:, d_k:], d_k)]


def split_heads(x, n_heads):
    if x.shape[1] % n_heads:
        raise ValueError("uneven heads")
    return np.array(pieces(x, x.shape[1] // n_heads))


def merge_heads(heads):
    if len(heads) == 1:
        return heads[0]
    return np.append(heads[0], merge_heads(heads[1:]), axis=1)


def heads_differ(attn):
    if len(attn) < 2:
        return True
    return not any(np.array_equal(attn[0], other) for other in attn[1:]) and heads_differ(attn[1:])
