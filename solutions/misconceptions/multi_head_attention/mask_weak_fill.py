"""Your fill of -100 is not small enough: when real scores are lower, the hidden keys get the weight."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_large_scores_do_no_harm"
HINT = "Which number is smaller than any real score?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -100.0, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
