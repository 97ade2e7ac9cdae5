"""You multiply with the transposed output projection; head i meets the rows of block i of W_O."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_output_follows_from_the_weights"
HINT = "Which axis of W_O do the merged features meet?"


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
        return merged @ self.Wo.T, attn
