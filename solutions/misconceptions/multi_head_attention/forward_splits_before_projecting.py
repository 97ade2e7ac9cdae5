"""
You split x before you project it, so each head reads its own d_k features only; every head may read the
whole token.
"""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "How many rows of W_Q does one of your heads use?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        if x.shape[1] % self.h != 0:
            raise ValueError("n_heads must divide d_model")
        maps, results = [], []
        for i in range(self.h):
            cols = slice(i * self.dk, (i + 1) * self.dk)
            part = x[:, cols]
            q = part @ self.Wq[cols, cols]
            k = part @ self.Wk[cols, cols]
            v = part @ self.Wv[cols, cols]
            scores = q @ k.T / np.sqrt(self.dk)
            if mask is not None:
                scores = np.where(mask, -np.inf, scores)
            maps.append(softmax(scores))
            results.append(maps[-1] @ v)
        return np.hstack(results) @ self.Wo, np.stack(maps)
