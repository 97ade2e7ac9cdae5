"""You return the maps as a Python list; the caller needs one array of shape (h, T, T)."""

import numpy as np

FAMILY = "types"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What does attn.shape give?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        maps, results = [], []
        for q, k, v in zip(Q, K, V):
            scores = q @ k.T / np.sqrt(self.dk)
            if mask is not None:
                scores = np.where(mask, -np.inf, scores)
            maps.append(softmax(scores))
            results.append(maps[-1] @ v)
        return np.hstack(results) @ self.Wo, maps
