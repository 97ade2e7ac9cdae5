"""You give the fourth root of d_k to the queries but not to the keys, so half of the scaling is missing."""

import numpy as np

FAMILY = "scale"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Which of the two factors carries the other half?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq) * self.dk**-0.25
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
