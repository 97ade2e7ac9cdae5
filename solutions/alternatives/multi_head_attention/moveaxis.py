"""Moves the head axis with np.moveaxis and rolls it back."""

import numpy as np


def split_heads(x, n_heads):
    d_k, rest = divmod(x.shape[1], n_heads)
    if rest:
        raise ValueError(f"{rest} features are left over")
    return np.moveaxis(x.reshape(x.shape[0], n_heads, d_k), 1, 0)


def merge_heads(heads):
    return np.moveaxis(heads, 0, 1).reshape(heads.shape[1], heads.shape[0] * heads.shape[2])


class MultiHeadAttention:
    def split_heads(self, x):
        return np.rollaxis(x.reshape(x.shape[0], self.h, self.dk), 1)


def heads_differ(attn):
    return len(np.unique(attn, axis=0)) == len(attn)
