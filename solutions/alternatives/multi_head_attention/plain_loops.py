"""Every function spelled out in Python loops over single numbers."""

import math

import numpy as np


def head_dim(d_model, n_heads):
    width = 0
    left = d_model
    while left > 0:
        left -= n_heads
        width += 1
    if left < 0:
        raise ValueError("the features cannot be shared evenly")
    return width


def split_heads(x, n_heads):
    n_tokens, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("the features cannot be shared evenly")
    d_k = d_model // n_heads
    heads = np.zeros((n_heads, n_tokens, d_k), dtype=x.dtype)
    for i in range(n_heads):
        for t in range(n_tokens):
            for j in range(d_k):
                heads[i, t, j] = x[t, i * d_k + j]
    return heads


def merge_heads(heads):
    n_heads, n_tokens, d_k = heads.shape
    merged = np.zeros((n_tokens, n_heads * d_k), dtype=heads.dtype)
    for i in range(n_heads):
        for t in range(n_tokens):
            for j in range(d_k):
                merged[t, i * d_k + j] = heads[i, t, j]
    return merged


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    d_k = d_model // n_heads
    tokens = []
    for row in range(n_tokens):
        for column in range(d_k):
            position = head * n_tokens * d_k + row * d_k + column
            token = position // d_model
            if token not in tokens:
                tokens.append(token)
    return sorted(tokens)


class MultiHeadAttention:
    def __init__(self, d_model, n_heads, seed=0):
        if d_model % n_heads:
            raise ValueError("the features cannot be shared evenly")
        self.h = n_heads
        self.dk = d_model // n_heads
        rng = np.random.default_rng(seed)
        scale = 1 / math.sqrt(d_model)
        self.Wq = rng.normal(0, scale, (d_model, d_model))
        self.Wk = rng.normal(0, scale, (d_model, d_model))
        self.Wv = rng.normal(0, scale, (d_model, d_model))
        self.Wo = rng.normal(0, scale, (d_model, d_model))

    def split_heads(self, x):
        heads = np.empty((self.h, len(x), self.dk), dtype=x.dtype)
        for i in range(self.h):
            heads[i] = x[:, i * self.dk : (i + 1) * self.dk]
        return heads

    def forward(self, x, mask=None):
        n_tokens = len(x)
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        attn = np.zeros((self.h, n_tokens, n_tokens))
        merged = np.zeros((n_tokens, self.h * self.dk))
        for i in range(self.h):
            for t in range(n_tokens):
                visible = [s for s in range(n_tokens) if mask is None or not mask[t, s]]
                scores = {s: sum(Q[i, t] * K[i, s]) / math.sqrt(self.dk) for s in visible}
                largest = max(scores.values())
                powers = {s: math.exp(scores[s] - largest) for s in visible}
                total = sum(powers.values())
                for s in visible:
                    attn[i, t, s] = powers[s] / total
                    merged[t, i * self.dk : (i + 1) * self.dk] += attn[i, t, s] * V[i, s]
        return merged @ self.Wo, attn


def roundtrip_is_exact(x, heads):
    n_heads, n_tokens, d_k = heads.shape
    if x.shape != (n_tokens, n_heads * d_k):
        return False
    for t in range(n_tokens):
        for column in range(n_heads * d_k):
            if heads[column // d_k, t, column % d_k] != x[t, column]:
                return False
    return True


def heads_differ(attn):
    for i in range(len(attn)):
        for j in range(i):
            if (attn[i] == attn[j]).all():
                return False
    return True
