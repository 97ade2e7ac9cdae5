"""Divides queries and keys each by the fourth root of d_k before they meet."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        half = self.dk**-0.25
        Q = self.split_heads(x @ self.Wq) * half
        K = self.split_heads(x @ self.Wk) * half
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        return (attn @ V).transpose(1, 0, 2).reshape(x.shape[0], -1) @ self.Wo, attn
