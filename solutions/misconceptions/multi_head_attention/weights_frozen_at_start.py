"""
You put the projections side by side when the layer is made, so weights that are set later are never
used.
"""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Set W_Q to zeros after you made a layer. Does the result change?"


class MultiHeadAttention:
    def __init__(self, d_model, n_heads, seed=0):
        self.h = n_heads
        self.dk = d_model // n_heads
        rng = np.random.default_rng(seed)
        scale = 1 / np.sqrt(d_model)
        self.Wq = rng.normal(0, scale, size=(d_model, d_model))
        self.Wk = rng.normal(0, scale, size=(d_model, d_model))
        self.Wv = rng.normal(0, scale, size=(d_model, d_model))
        self.Wo = rng.normal(0, scale, size=(d_model, d_model))
        self.fused = np.hstack([self.Wq, self.Wk, self.Wv])

    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q, K, V = (self.split_heads(part) for part in np.split(x @ self.fused, 3, axis=1))
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
