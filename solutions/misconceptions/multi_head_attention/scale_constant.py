"""You divide by 8, the root of the 64 features per head of the best known model; yours has another d_k."""

import numpy as np

FAMILY = "scale"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Compute the factor from the shapes."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / 8.0
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
