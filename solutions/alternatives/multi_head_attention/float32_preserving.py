"""Computes in single precision when x is in single precision."""

import numpy as np


class MultiHeadAttention:
    def forward(self, x, mask=None):
        dtype = np.float32 if x.dtype == np.float32 else np.float64
        x = x.astype(dtype)
        Wq, Wk, Wv, Wo = (W.astype(dtype) for W in (self.Wq, self.Wk, self.Wv, self.Wo))
        Q, K, V = self.split_heads(x @ Wq), self.split_heads(x @ Wk), self.split_heads(x @ Wv)
        scores = Q @ K.transpose(0, 2, 1) / dtype(np.sqrt(self.dk))
        if mask is not None:
            scores = np.where(mask, dtype(-np.inf), scores)
        attn = softmax(scores)
        out = (attn @ V).transpose(1, 0, 2).reshape(x.shape) @ Wo
        return out, attn
