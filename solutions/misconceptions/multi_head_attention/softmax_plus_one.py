"""You add one to the denominator, so the rows sum to less than one."""

import numpy as np

LOSES = "test_forward"
HINT = "What is attn.sum(axis=-1)?"


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / (1 + powers.sum(axis=axis, keepdims=True))
