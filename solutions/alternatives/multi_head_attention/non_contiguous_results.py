"""Returns views that are not contiguous in memory."""

import numpy as np


def split_heads(x, n_heads):
    if x.shape[1] % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = x.shape[1] // n_heads
    return x.T.reshape(n_heads, d_k, x.shape[0]).transpose(0, 2, 1)


def merge_heads(heads):
    n_heads, n_tokens, d_k = heads.shape
    return heads.transpose(0, 2, 1).reshape(n_heads * d_k, n_tokens).T


class MultiHeadAttention:
    def split_heads(self, x):
        if x.shape[1] % self.h != 0:
            raise ValueError("n_heads must divide d_model")
        return x.T.reshape(self.h, self.dk, -1).transpose(0, 2, 1)

    def forward(self, x, mask=None):
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = K @ Q.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask.T, -np.inf, scores)
        attn = softmax(scores, axis=1).transpose(0, 2, 1)
        merged = (V.transpose(0, 2, 1) @ attn.transpose(0, 2, 1)).reshape(-1, len(x))
        return (self.Wo.T @ merged).T, attn
