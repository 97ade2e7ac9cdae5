"""You never use the mask, so every query sees every key."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_causal_mask_hides_the_future"
HINT = "Does changing a hidden token change the result?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
