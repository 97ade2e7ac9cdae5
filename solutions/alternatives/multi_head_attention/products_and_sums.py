"""Multiplies elementwise over four axes and sums, with no matrix product between tokens."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q, K, V = (self.split_heads(x @ W) for W in (self.Wq, self.Wk, self.Wv))
        scores = np.sum(Q[:, :, None, :] * K[:, None, :, :], axis=3) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(np.expand_dims(mask, 0), -np.inf, scores)
        attn = softmax(scores)
        mixed = np.sum(attn[:, :, :, None] * V[:, None, :, :], axis=2)
        merged = np.empty((T, self.h, self.dk))
        merged[...] = mixed.swapaxes(0, 1)
        return merged.reshape(T, d_model) @ self.Wo, attn
