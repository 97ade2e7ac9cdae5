"""You write into the caller's mask, so it hides more after the call than before."""

import numpy as np

FAMILY = "state"
LOSES = "test_forward"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Print the mask before and after the call."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
            if mask.flags.writeable:
                mask |= np.triu(np.ones((T, T), dtype=bool), k=1)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
