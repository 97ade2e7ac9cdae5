"""Lays all heads along the diagonal of one large table of scores, and hides what lies between heads."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T = len(x)
        Q, K, V = (self.split_heads(x @ W).reshape(self.h * T, self.dk) for W in (self.Wq, self.Wk, self.Wv))
        scores = Q @ K.T / np.sqrt(self.dk)
        hidden = np.kron(~np.eye(self.h, dtype=bool), np.ones((T, T), dtype=bool))
        if mask is not None:
            hidden = hidden | np.tile(mask, (self.h, self.h))
        weights = softmax(np.where(hidden, -np.inf, scores))
        out = np.hstack(np.vsplit(weights @ V, self.h)) @ self.Wo
        blocks = weights.reshape(self.h, T, self.h, T)
        return out, np.array([blocks[i, :, i] for i in range(self.h)])
