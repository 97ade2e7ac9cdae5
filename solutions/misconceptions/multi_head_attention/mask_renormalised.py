"""You mask after the softmax and divide again; when a hidden score dominates, that is 0 / 0."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_large_scores_do_no_harm"
HINT = "Hidden scores must not reach exp."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        attn = softmax(scores)
        if mask is not None:
            attn = np.where(mask, 0.0, attn)
            attn = attn / attn.sum(axis=-1, keepdims=True)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
