"""You take the exponential of raw scores, which overflows for large ones and gives nan."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_large_scores_do_no_harm"
HINT = "What is np.exp(1000), and which number may you subtract from all scores of a row?"


def softmax(scores, axis=-1):
    powers = np.exp(scores)
    return powers / powers.sum(axis=axis, keepdims=True)
