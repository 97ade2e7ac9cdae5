"""Shifts by the largest visible score, zeroes the hidden powers, then divides by what is left."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T = x.shape[0]
        visible = np.ones((T, T), dtype=bool) if mask is None else np.logical_not(mask)
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = np.matmul(Q, K.transpose(0, 2, 1)) / self.dk**0.5
        largest = scores.max(axis=-1, keepdims=True, where=visible, initial=-np.inf)
        powers = np.exp(np.minimum(scores - largest, 0)) * visible
        attn = powers / np.sum(powers, axis=-1, keepdims=True)
        mixed = np.matmul(attn, V)
        return np.hstack(mixed) @ self.Wo, attn
