"""You build arrays for one fixed number of tokens, so another sequence fails or is cut."""

import numpy as np

FAMILY = "sizes"
LOSES = "test_forward"
CHECK = "test_sizes_that_coincide_do_not_matter"
HINT = "Read the number of tokens from x."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = 5, x.shape[1]
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
