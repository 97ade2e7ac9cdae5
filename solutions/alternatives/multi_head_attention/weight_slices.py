"""Each head multiplies with its own slices of the weights, and the results of the heads are added."""

import numpy as np


class MultiHeadAttention:
    def split_heads(self, x):
        return np.stack([x[:, i * self.dk : (i + 1) * self.dk] for i in range(self.h)], axis=0)

    def forward(self, x, mask=None):
        if x.shape[1] != self.h * self.dk:
            raise ValueError("uneven heads")
        out = 0
        maps = []
        for i in range(self.h):
            mine = slice(i * self.dk, (i + 1) * self.dk)
            q = x @ self.Wq[:, mine]
            k = x @ self.Wk[:, mine]
            v = x @ self.Wv[:, mine]
            scores = q @ k.T / np.sqrt(self.dk)
            if mask is not None:
                scores = np.where(mask, -np.inf, scores)
            weights = softmax(scores)
            maps.append(weights)
            out = out + weights @ v @ self.Wo[mine, :]
        return out, np.stack(maps)
