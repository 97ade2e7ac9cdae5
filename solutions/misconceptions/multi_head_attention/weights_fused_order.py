"""You cut the fused projections in another order than you put them side by side."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Compare the order in hstack with the order in which you unpack."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        fused = x @ np.hstack([self.Wq, self.Wk, self.Wv])
        V, Q, K = (self.split_heads(part) for part in np.split(fused, 3, axis=1))
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
