"""Returns arrays of a subclass of ndarray that carries axis names."""

import numpy as np


class Labelled(np.ndarray):
    axes = ()


def label(array, *axes):
    labelled = array.view(Labelled)
    labelled.axes = axes
    return labelled


def split_heads(x, n_heads):
    if x.shape[1] % n_heads:
        raise ValueError("n_heads does not divide d_model")
    heads = x.reshape(x.shape[0], n_heads, x.shape[1] // n_heads).transpose(1, 0, 2)
    return label(heads, "head", "token", "feature")


def merge_heads(heads):
    merged = heads.transpose(1, 0, 2).reshape(heads.shape[1], -1)
    return label(merged, "token", "feature")


class MultiHeadAttention:
    def split_heads(self, x):
        return label(np.stack(np.split(x, self.h, axis=1)), "head", "token", "feature")

    def forward(self, x, mask=None):
        Q, K, V = self.split_heads(x @ self.Wq), self.split_heads(x @ self.Wk), self.split_heads(x @ self.Wv)
        scores = label(Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk), "head", "query", "key")
        if mask is not None:
            scores = label(np.where(mask, -np.inf, scores), "head", "query", "key")
        attn = label(softmax(scores), "head", "query", "key")
        out = np.hstack(list(attn @ V)) @ self.Wo
        return label(out, "token", "feature"), attn
