"""
You scale the weights after the softmax instead of the scores before it, so the rows no longer sum to
one.
"""

import numpy as np

FAMILY = "scale"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What is attn.sum(axis=-1)?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores) / np.sqrt(self.dk)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
