"""
You subtract the largest absolute value; where it belongs to a negative score, all powers vanish and 0 /
0 is left.
"""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_large_scores_do_no_harm"
HINT = "What is left of a row with the scores -900 and -800?"


def softmax(scores, axis=-1):
    finite = np.where(np.isfinite(scores), np.abs(scores), 0)
    powers = np.exp(scores - finite.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
