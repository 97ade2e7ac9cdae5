"""Works in arrays of its own, filled through the argument `out`."""

import numpy as np


def split_heads(x, n_heads):
    n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("uneven heads")
    heads = np.empty((n_heads, n_tokens, d_model // n_heads), dtype=x.dtype)
    np.stack(np.split(x, n_heads, axis=1), out=heads)
    return heads


def merge_heads(heads):
    merged = np.empty((heads.shape[1], heads.shape[0] * heads.shape[2]), dtype=heads.dtype)
    return np.concatenate(list(heads), axis=1, out=merged)


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q, K, V = (self.split_heads(x @ W) for W in (self.Wq, self.Wk, self.Wv))
        attn = np.empty((self.h, T, T))
        np.matmul(Q, K.transpose(0, 2, 1), out=attn)
        np.divide(attn, np.sqrt(self.dk), out=attn)
        if mask is not None:
            np.copyto(attn, -np.inf, where=mask)
        np.subtract(attn, attn.max(axis=2, keepdims=True), out=attn)
        np.exp(attn, out=attn)
        np.divide(attn, attn.sum(axis=2, keepdims=True), out=attn)
        merged = np.empty((T, d_model))
        np.matmul(attn, V, out=merged.reshape(T, self.h, self.dk).transpose(1, 0, 2))
        return merged @ self.Wo, attn
