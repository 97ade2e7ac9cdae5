"""Reshapes and swaps the first two axes, forth and back."""

import numpy as np


def split_heads(x, n_heads):
    n_tokens, d_model = x.shape
    assert d_model % n_heads == 0
    return x.reshape(n_tokens, n_heads, -1).swapaxes(0, 1)


def merge_heads(heads):
    n_heads, n_tokens, d_k = heads.shape
    return np.swapaxes(heads, 0, 1).reshape(n_tokens, n_heads * d_k)


class MultiHeadAttention:
    def split_heads(self, x):
        assert x.shape[1] == self.h * self.dk
        return x.reshape(-1, self.h, self.dk).swapaxes(0, 1)

    def forward(self, x, mask=None):
        Q, K, V = [self.split_heads(x @ W) for W in (self.Wq, self.Wk, self.Wv)]
        scores = Q @ K.swapaxes(-1, -2) * self.dk**-0.5
        if mask is not None:
            scores[np.broadcast_to(mask, scores.shape)] = -np.inf
        attn = softmax(scores, axis=2)
        merged = (attn @ V).swapaxes(0, 1).reshape(x.shape)
        return merged @ self.Wo, attn


def roundtrip_is_exact(x, heads):
    merged = heads.swapaxes(0, 1).reshape(heads.shape[1], -1)
    return merged.shape == x.shape and bool(np.all(merged == x))
