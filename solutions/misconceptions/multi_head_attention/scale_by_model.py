"""You scale with the root of d_model, but a head's dot product has only d_k terms."""

import numpy as np

FAMILY = "scale"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Over which axis does Q @ K sum, and how long is it?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(d_model)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
