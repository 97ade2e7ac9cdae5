"""Works on any leading axes, so that the heads axis is found from the end."""

import numpy as np


def merge_heads(heads):
    swapped = np.swapaxes(heads, -3, -2)
    return swapped.reshape(*swapped.shape[:-2], -1)


class MultiHeadAttention:
    def split_heads(self, x):
        return np.swapaxes(x.reshape(*x.shape[:-1], self.h, self.dk), -3, -2)

    def forward(self, x, mask=None):
        Q, K, V = (self.split_heads(x @ W) for W in (self.Wq, self.Wk, self.Wv))
        scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        mixed = np.swapaxes(attn @ V, -3, -2)
        return mixed.reshape(*x.shape[:-1], -1) @ self.Wo, attn
