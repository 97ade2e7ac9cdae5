"""Uses einsum, scales the queries, and adds a large negative penalty for hidden keys."""

import numpy as np


def attention_weights(Q, K, mask=None):
    scores = np.einsum("qd,kd->qk", Q / Q.shape[-1] ** 0.5, K)
    if mask is not None:
        scores = scores + mask * -1e30
    return softmax(scores)


def attention(Q, K, V, mask=None):
    weights = attention_weights(Q, K, mask=mask)
    return np.einsum("qk,kv->qv", weights, V), weights
