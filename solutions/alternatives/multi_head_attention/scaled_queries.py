"""Scales the queries only, before they are split."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        Q = self.split_heads(x @ (self.Wq / np.sqrt(self.dk)))
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = np.stack([q @ k.T for q, k in zip(Q, K)])
        if mask is not None:
            scores = np.where(mask, np.finfo(scores.dtype).min, scores)
        attn = softmax(scores)
        heads = [weights @ v for weights, v in zip(attn, V)]
        return np.column_stack(heads) @ self.Wo, attn
