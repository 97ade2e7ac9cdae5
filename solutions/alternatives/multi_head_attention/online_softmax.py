"""Reads the keys one by one and corrects what it has summed whenever a larger score comes."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q, K, V = (self.split_heads(x @ W) for W in (self.Wq, self.Wk, self.Wv))
        largest = np.full((self.h, T, 1), -np.inf)
        total = np.zeros((self.h, T, 1))
        mixed = np.zeros((self.h, T, self.dk))
        attn = np.zeros((self.h, T, T))
        for s in range(T):
            score = (Q @ K[:, s, :, None]) / np.sqrt(self.dk)
            if mask is not None:
                score = np.where(mask[:, s, None], -np.inf, score)
            new = np.maximum(largest, score)
            seen = np.isfinite(new)
            shrink = np.exp(np.where(seen & np.isfinite(largest), largest - np.where(seen, new, 0), -np.inf))
            power = np.exp(np.where(seen, score - np.where(seen, new, 0), -np.inf))
            total = total * shrink + power
            mixed = mixed * shrink + power * V[:, s, None, :]
            attn = attn * shrink
            attn[:, :, s, None] = power
            largest = new
        merged = (mixed / total).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn / total
