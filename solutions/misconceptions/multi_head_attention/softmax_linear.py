"""You shift the scores to be positive and divide by their sum, without the exponential."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What happens to the ratio of two weights when one score grows by 1?"


def softmax(scores, axis=-1):
    visible = np.isfinite(scores)
    lowest = np.min(scores, axis=axis, keepdims=True, where=visible, initial=0)
    shifted = np.where(visible, scores - lowest + 1, 0)
    return shifted / shifted.sum(axis=axis, keepdims=True)
