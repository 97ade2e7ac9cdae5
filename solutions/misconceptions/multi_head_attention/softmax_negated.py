"""You turned the sign around in the shift, so the least similar key gets the largest weight."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Does a larger score give a larger weight?"


def softmax(scores, axis=-1):
    scores = np.where(np.isinf(scores), np.inf, scores)
    lowest = scores.min(axis=axis, keepdims=True)
    powers = np.exp(lowest - scores)
    return powers / powers.sum(axis=axis, keepdims=True)
