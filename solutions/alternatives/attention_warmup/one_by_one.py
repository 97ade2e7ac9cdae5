"""Writes every sum as a loop over keys, one query after the other."""

import math

import numpy as np


def share_out(row):
    largest = max(row)
    powers = [math.exp(score - largest) for score in row]
    total = sum(powers)
    return [power / total for power in powers]


def softmax(scores):
    if scores.ndim == 1:
        return np.array(share_out(list(scores)))
    return np.array([softmax(part) for part in scores])


def attention_weights(Q, K, mask=None):
    rows = []
    for i, q in enumerate(Q):
        scores = []
        for j, k in enumerate(K):
            hidden = mask is not None and mask[i, j]
            scores.append(-math.inf if hidden else sum(a * b for a, b in zip(q, k)) / math.sqrt(len(q)))
        rows.append(share_out(scores))
    return np.array(rows)


def attention(Q, K, V, mask=None):
    weights = attention_weights(Q, K, mask)
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        for j in range(len(K)):
            out[i] += weights[i, j] * V[j]
    return out, weights
