"""You round the weights to three digits, so they no longer sum to one."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Round when you print, not when you compute."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = np.round(softmax(scores), 3)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
