"""You put a ReLU behind the projections; they are plain matrix products."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Is there anything between x @ W and the split in the formula?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(np.maximum(x @ self.Wq, 0))
        K = self.split_heads(np.maximum(x @ self.Wk, 0))
        V = self.split_heads(np.maximum(x @ self.Wv, 0))
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
