"""
You merge the heads by reshape alone, so a row of the output mixes tokens; the maps are right, the
output is not.
"""

import numpy as np

FAMILY = "layout"
LOSES = "test_forward"
CHECK = "test_output_follows_from_the_weights"
HINT = "Row t of the merged array must hold token t of every head."


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
        merged = (attn @ V).reshape(T, d_model)
        return merged @ self.Wo, attn
