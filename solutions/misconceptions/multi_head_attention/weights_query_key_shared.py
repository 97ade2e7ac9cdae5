"""You use W_Q for the keys as well, so token a looks at b exactly as much as b looks at a."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Which matrix makes the keys?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wq)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
