"""All your heads read the same columns of the projections, so their maps are copies of each other."""

import numpy as np

FAMILY = "projections"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Are attn[0] and attn[1] equal?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        if x.shape[1] % self.h != 0:
            raise ValueError("n_heads must divide d_model")
        maps, results = [], []
        for i in range(self.h):
            q = (x @ self.Wq)[:, : self.dk]
            k = (x @ self.Wk)[:, : self.dk]
            v = (x @ self.Wv)[:, : self.dk]
            scores = q @ k.T / np.sqrt(self.dk)
            if mask is not None:
                scores = np.where(mask, -np.inf, scores)
            maps.append(softmax(scores))
            results.append(maps[-1] @ v)
        return np.concatenate(results, axis=1) @ self.Wo, np.stack(maps)
