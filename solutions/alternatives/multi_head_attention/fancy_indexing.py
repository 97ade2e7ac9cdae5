"""Picks the columns of every head with an array of their numbers."""

import numpy as np


def split_heads(x, n_heads):
    columns = np.arange(x.shape[1]).reshape(n_heads, -1)
    return np.take(x, columns, axis=1).transpose(1, 0, 2)


def merge_heads(heads):
    n_heads, n_tokens, d_k = heads.shape
    head, feature = np.divmod(np.arange(n_heads * d_k), d_k)
    return heads[head[None, :], np.arange(n_tokens)[:, None], feature[None, :]]


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    numbers = np.arange(n_tokens * d_model).reshape(n_heads, -1)[head]
    tokens, _ = np.unravel_index(numbers, (n_tokens, d_model))
    return np.flatnonzero(np.bincount(tokens, minlength=n_tokens))


class MultiHeadAttention:
    def split_heads(self, x):
        columns = np.arange(self.h * self.dk).reshape(self.h, 1, self.dk)
        return x[np.arange(len(x))[None, :, None], columns]


def roundtrip_is_exact(x, heads):
    n_heads, _, d_k = heads.shape
    pieces = [heads[i] == x[:, i * d_k : (i + 1) * d_k] for i in range(n_heads)]
    return np.all(pieces)


def heads_differ(attn):
    first, second = np.triu_indices(len(attn), k=1)
    return bool((attn[first] != attn[second]).any(axis=(1, 2)).all())
