"""You fill with the smallest number of the dtype of x, and integers have none that np.finfo knows."""

import numpy as np

FAMILY = "types"
LOSES = "test_forward"
CHECK = "test_every_kind_of_array_counts_alike"
HINT = "Which dtype do the scores have when x holds integers?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, np.finfo(x.dtype).min, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
