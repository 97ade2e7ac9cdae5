"""Finds the tokens of a naive head by reshaping an array of token numbers."""

import numpy as np


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    owner = np.arange(n_tokens)[:, None] * np.ones(d_model, dtype=int)
    naive = owner.reshape(n_heads, n_tokens, d_model // n_heads)
    return np.unique(naive[head]).tolist()
