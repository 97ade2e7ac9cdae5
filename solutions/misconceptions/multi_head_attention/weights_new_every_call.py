"""You draw new random matrices inside forward, so the weights of the layer are never used."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Set model.Wq to zeros: does the result change?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        rng = np.random.default_rng(0)
        Wq, Wk, Wv, Wo = rng.normal(0, 1 / np.sqrt(d_model), (4, d_model, d_model))
        Q = self.split_heads(x @ Wq)
        K = self.split_heads(x @ Wk)
        V = self.split_heads(x @ Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ Wo, attn
