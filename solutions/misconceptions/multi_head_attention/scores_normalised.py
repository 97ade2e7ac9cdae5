"""You bring queries and keys to length one first, so you compare directions only."""

import numpy as np

FAMILY = "scores"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Does the formula divide by the lengths of q and k?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        Q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
        K = K / np.linalg.norm(K, axis=-1, keepdims=True)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
