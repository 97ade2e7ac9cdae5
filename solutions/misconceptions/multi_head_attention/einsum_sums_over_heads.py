"""
Your einsum gives the heads of queries and keys different letters, so it sums over the heads and all
maps become equal.
"""

import numpy as np

FAMILY = "scores"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Both factors need the same letter for the head."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = np.einsum("hqd,gkd->hqk", Q, K) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
