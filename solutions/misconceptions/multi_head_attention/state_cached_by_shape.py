"""You remember results by the shape of x, so another x of the same shape gets the old answer."""

import numpy as np

FAMILY = "state"
LOSES = "test_forward"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Call forward twice with different numbers of the same shape."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        if not hasattr(self, "cache"):
            self.cache = {}
        key = (T, mask is None)
        if key not in self.cache:
            Q = self.split_heads(x @ self.Wq)
            K = self.split_heads(x @ self.Wk)
            V = self.split_heads(x @ self.Wv)
            scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
            if mask is not None:
                scores = np.where(mask, -np.inf, scores)
            attn = softmax(scores)
            merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
            self.cache[key] = merged @ self.Wo, attn
        return self.cache[key]
