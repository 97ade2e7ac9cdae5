"""Keeps the four matrices in one array, with properties that read and write its parts."""

import numpy as np


def part(index):
    def read(self):
        return self.weights[index]

    def write(self, matrix):
        self.weights[index] = matrix

    return property(read, write)


class MultiHeadAttention:
    Wq, Wk, Wv, Wo = part(0), part(1), part(2), part(3)

    def __init__(self, d_model, n_heads, seed=0):
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.h, self.dk = n_heads, d_model // n_heads
        self.weights = np.random.default_rng(seed).normal(0, d_model**-0.5, (4, d_model, d_model))

    def forward(self, x, mask=None):
        Q, K, V = np.array([self.split_heads(projected) for projected in x @ self.weights[:3]])
        scores = Q @ K.swapaxes(1, 2) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        return np.concatenate([*(attn @ V)], axis=1) @ self.weights[3], attn
