"""Contracts axes with np.tensordot, and never reshapes a projection."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        d_model = x.shape[1]
        blocks = np.stack([self.Wq, self.Wk, self.Wv]).reshape(3, d_model, self.h, self.dk)
        Q, K, V = np.tensordot(blocks, x, axes=(1, 1)).transpose(0, 1, 3, 2)
        scores = np.array([np.tensordot(q, k, axes=(1, 1)) for q, k in zip(Q, K, strict=True)])
        scores *= self.dk**-0.5
        attn = softmax(scores if mask is None else np.where(mask, -np.inf, scores))
        heads = np.array([np.tensordot(weights, v, axes=1) for weights, v in zip(attn, V, strict=True)])
        return np.tensordot(heads, self.Wo.reshape(self.h, self.dk, d_model), axes=((0, 2), (0, 1))), attn
