"""You scale W_Q in place, so it shrinks with every call."""

import numpy as np

FAMILY = "state"
LOSES = "test_forward"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Compare self.Wq before and after a call."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        self.Wq /= np.sqrt(self.dk)
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
