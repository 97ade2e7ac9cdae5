"""
You blank whole queries instead of keys: indexing scores[mask.any(axis=0)] picks the first axes, not the
last.
"""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_any_mask_hides_what_it_says"
HINT = "Which axis of the scores are the keys?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            hidden = mask.any(axis=0)
            scores[:, hidden, :] = -1e9
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
