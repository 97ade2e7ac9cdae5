"""Refuses uneven heads by assertions everywhere."""

import numpy as np


def head_dim(d_model, n_heads):
    assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
    return d_model // n_heads


def parameter_count(d_model, n_heads):
    assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
    return 4 * d_model**2


def split_heads(x, n_heads):
    T, d_model = x.shape
    assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
    return x.reshape(T, n_heads, d_model // n_heads).transpose(1, 0, 2)


class MultiHeadAttention:
    def __init__(self, d_model, n_heads, seed=0):
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.h, self.dk = n_heads, d_model // n_heads
        rng = np.random.default_rng(seed)
        self.Wq = rng.normal(0, d_model**-0.5, (d_model, d_model))
        self.Wk = rng.normal(0, d_model**-0.5, (d_model, d_model))
        self.Wv = rng.normal(0, d_model**-0.5, (d_model, d_model))
        self.Wo = rng.normal(0, d_model**-0.5, (d_model, d_model))
