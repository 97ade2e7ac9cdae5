"""You multiply with the transposed matrices; here x @ W is meant, with W on the right as it is."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Which axis of W do the features of x meet?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq.T)
        K = self.split_heads(x @ self.Wk.T)
        V = self.split_heads(x @ self.Wv.T)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
