"""You subtract the largest score of the whole array, so a row of much smaller scores turns into 0 / 0."""

import numpy as np

LOSES = "test_forward"
HINT = "Each row needs a shift of its own: what does keepdims do?"


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis=axis, keepdims=True)
