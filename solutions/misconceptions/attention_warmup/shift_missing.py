"""You take exponentials of the scores as they are, and for scores around 1000 these are infinite."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_softmax"
CHECK = "test_large_scores_keep_their_differences"
HINT = "What is np.exp(1000)? And what may be subtracted from a row without changing its weights?"


def softmax(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
