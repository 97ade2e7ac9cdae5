"""Notices uneven heads only in forward, not at construction."""

import numpy as np


class MultiHeadAttention:
    def __init__(self, d_model, n_heads, seed=0):
        self.h = n_heads
        self.dk = d_model // n_heads
        rng = np.random.default_rng(seed)
        self.Wq = rng.normal(0, 1 / np.sqrt(d_model), size=(d_model, d_model))
        self.Wk = rng.normal(0, 1 / np.sqrt(d_model), size=(d_model, d_model))
        self.Wv = rng.normal(0, 1 / np.sqrt(d_model), size=(d_model, d_model))
        self.Wo = rng.normal(0, 1 / np.sqrt(d_model), size=(d_model, d_model))

    def split_heads(self, x):
        return x.reshape(x.shape[0], self.h, self.dk).transpose(1, 0, 2)

    def forward(self, x, mask=None):
        if self.h * self.dk != x.shape[1]:
            raise ValueError("the heads cannot share the features evenly")
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        return (attn @ V).transpose(1, 0, 2).reshape(x.shape) @ self.Wo, attn
