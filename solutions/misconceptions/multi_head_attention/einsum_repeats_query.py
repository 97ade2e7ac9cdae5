"""
Your second einsum uses the letter of the query for the value too, so every token gets back its own
value.
"""

import numpy as np

FAMILY = "scores"
LOSES = "test_forward"
CHECK = "test_output_follows_from_the_weights"
HINT = "Which letter has to disappear from the result?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = np.einsum("hqd,hkd->hqk", Q, K) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        mixed = np.einsum("hqk,hqd->hqd", attn, V)
        merged = mixed.transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
