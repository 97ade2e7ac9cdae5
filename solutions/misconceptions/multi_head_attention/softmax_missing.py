"""
You divide the scores by their sum without the exponential, which is not a distribution when scores are
negative.
"""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What does softmax do before it divides?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, 0, scores)
        attn = scores / scores.sum(axis=-1, keepdims=True)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
