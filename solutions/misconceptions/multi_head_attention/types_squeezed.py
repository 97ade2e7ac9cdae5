"""You squeeze the results, so an axis disappears when there is a single token or a single head."""

import numpy as np

FAMILY = "sizes"
LOSES = "test_forward"
CHECK = "test_sizes_that_coincide_do_not_matter"
HINT = "Try one token and one head."


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
        return np.squeeze(merged @ self.Wo), np.squeeze(attn)
