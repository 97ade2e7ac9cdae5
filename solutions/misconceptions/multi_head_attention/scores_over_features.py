"""You compare features with features (d_k by d_k); tokens attend to tokens."""

import numpy as np

FAMILY = "scores"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What should the two last axes of the maps be?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q.transpose(0, 2, 1) @ K / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (V @ attn).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
