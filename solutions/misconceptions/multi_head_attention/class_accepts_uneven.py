"""
Your class accepts heads that do not divide d_model and silently ignores the features that are left
over.
"""

import numpy as np

FAMILY = "sizes"
LOSES = "test_forward"
CHECK = "test_uneven_heads_are_refused"
HINT = "What should MultiHeadAttention(7, 2) do?"


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
        return np.stack([x[:, i * self.dk : (i + 1) * self.dk] for i in range(self.h)])

    def forward(self, x, mask=None):
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = np.concatenate(list(attn @ V), axis=1)
        return merged @ self.Wo[: self.h * self.dk], attn
