"""You add a bias to the projections; they are plain matrix products here."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What does a row of zeros in x become?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq + 0.1)
        K = self.split_heads(x @ self.Wk + 0.1)
        V = self.split_heads(x @ self.Wv + 0.1)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
