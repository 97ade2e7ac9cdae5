"""You multiply the scores by the root of d_k instead of dividing by it."""

import numpy as np

FAMILY = "scale"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Is your factor above or below one?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / self.dk**-0.5
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
