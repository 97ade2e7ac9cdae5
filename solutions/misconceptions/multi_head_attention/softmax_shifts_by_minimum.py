"""You subtract the smallest score, so the largest exponent is still large and overflows."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_large_scores_do_no_harm"
HINT = "What is the largest exponent that is left?"


def softmax(scores, axis=-1):
    lowest = np.min(scores, axis=axis, keepdims=True, where=np.isfinite(scores), initial=np.inf)
    powers = np.exp(scores - lowest)
    return powers / powers.sum(axis=axis, keepdims=True)
