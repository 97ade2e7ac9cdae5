"""You use K.T, which reverses all three axes; only the last two change places."""

import numpy as np

FAMILY = "layout"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What is the shape of K.T?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.T / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
