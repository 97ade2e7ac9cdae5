"""You return the scores before the softmax instead of the weights."""

import numpy as np

FAMILY = "scores"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Do the rows of what you return sum to one?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        weights = softmax(scores)
        merged = (weights @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, scores
