"""You compute one map with all features and copy it for every head; each head needs a map of its own."""

import numpy as np

FAMILY = "scores"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Do the heads differ?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        if x.shape[1] % self.h != 0:
            raise ValueError("n_heads must divide d_model")
        Q, K, V = x @ self.Wq, x @ self.Wk, x @ self.Wv
        scores = Q @ K.T / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        weights = softmax(scores)
        out = weights @ V @ self.Wo
        return out, np.stack([weights] * self.h)
