"""You write the result into x itself, so the caller's tokens are lost."""

import numpy as np

FAMILY = "state"
LOSES = "test_forward"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Print x before and after the call."


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
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        out = merged @ self.Wo
        if x.flags.writeable:
            x[:] = out
        return out, attn
