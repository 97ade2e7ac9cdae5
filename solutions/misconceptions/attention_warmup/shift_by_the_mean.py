"""You subtract the mean of a row, and the score far above it still overflows."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_softmax"
CHECK = "test_large_scores_keep_their_differences"
HINT = "After your shift, what is the largest exponent in the row (0, 800, 1600)?"


def softmax(scores):
    exponentials = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
