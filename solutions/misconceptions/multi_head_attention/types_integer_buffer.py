"""
You create the output with the dtype of x, so for integer tokens every result is cut down to a whole
number.
"""

import numpy as np

FAMILY = "types"
LOSES = "test_forward"
CHECK = "test_every_kind_of_array_counts_alike"
HINT = "Which dtype does np.zeros_like(x) have?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        out = np.zeros_like(x)
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        for t in range(len(x)):
            out[t] = np.concatenate(list(attn[:, t : t + 1] @ V), axis=1)[0] @ self.Wo
        return out, attn
