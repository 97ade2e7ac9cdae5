"""You subtract the largest score of the whole array, so a row of much smaller scores turns into 0 / 0."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_large_scores_do_no_harm"
HINT = "Each row needs a shift of its own: what does keepdims do?"


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max())
    return powers / powers.sum(axis=axis, keepdims=True)
