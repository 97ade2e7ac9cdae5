"""Makes the layer a dataclass that draws its weights after it is made."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Layer:
    d_model: int
    n_heads: int
    seed: int = 0
    h: int = field(init=False)
    dk: int = field(init=False)

    def __post_init__(self):
        self.h = self.n_heads
        self.dk, rest = divmod(self.d_model, self.n_heads)
        if rest:
            raise ValueError(f"{rest} features are left over")
        rng = np.random.default_rng(self.seed)
        weights = rng.normal(0, self.d_model**-0.5, size=(4, self.d_model, self.d_model))
        self.Wq, self.Wk, self.Wv, self.Wo = weights

    def split_heads(self, x):
        return x.reshape(-1, self.h, self.dk).transpose(1, 0, 2)

    def forward(self, x, mask=None):
        q, k, v = map(self.split_heads, (x @ self.Wq, x @ self.Wk, x @ self.Wv))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        return (attn @ v).transpose(1, 0, 2).reshape(-1, self.d_model) @ self.Wo, attn


MultiHeadAttention = Layer
