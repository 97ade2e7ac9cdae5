"""Applies a softmax for a single row to row after row."""

import numpy as np


def of_row(scores):
    powers = np.exp(scores - max(scores))
    return powers / sum(powers)


def softmax(scores, axis=-1):
    return np.apply_along_axis(of_row, axis, scores)


class MultiHeadAttention:
    def forward(self, x, mask=None):
        Q, K, V = (self.split_heads(np.dot(x, W)) for W in (self.Wq, self.Wk, self.Wv))
        scores = np.array([np.inner(q, k) for q, k in zip(Q, K, strict=True)]) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.choose(mask, (scores, -np.inf))
        attn = softmax(scores)
        return np.dot(np.column_stack(list(attn @ V)), self.Wo), attn
