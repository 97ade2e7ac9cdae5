"""You left dropout on: weights vanish at random and the same input gives another output each time."""

import numpy as np

FAMILY = "state"
LOSES = "test_forward"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Call forward twice with the same x."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        keep = np.random.random(attn.shape) > 0.1
        attn = attn * keep / 0.9
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
