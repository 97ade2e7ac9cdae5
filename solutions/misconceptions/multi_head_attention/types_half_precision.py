"""You compute in float16, which keeps only three digits."""

import numpy as np

FAMILY = "types"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Which dtype do your arrays have?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads((x @ self.Wq).astype(np.float16))
        K = self.split_heads((x @ self.Wk).astype(np.float16))
        V = self.split_heads((x @ self.Wv).astype(np.float16))
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
