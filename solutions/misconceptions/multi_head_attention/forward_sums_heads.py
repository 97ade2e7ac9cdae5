"""You add the heads up before W_O; they are put side by side, and W_O does the mixing."""

import numpy as np

FAMILY = "layout"
LOSES = "test_forward"
CHECK = "test_output_follows_from_the_weights"
HINT = "What is the shape of the array that meets W_O?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        mixed = attn @ V
        merged = np.concatenate([mixed.sum(axis=0)] * self.h, axis=1)
        return merged @ self.Wo, attn
