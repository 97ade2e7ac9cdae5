"""You build the causal mask yourself, and its diagonal is off by one: each token sees the next one too."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_causal_mask_hides_the_future"
HINT = "How many keys does the first query see?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(np.triu(np.ones((T, T), dtype=bool), k=2), -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
