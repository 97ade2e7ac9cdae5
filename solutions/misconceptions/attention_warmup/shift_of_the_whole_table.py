"""You subtract one number from the whole table, so rows of much smaller scores become 0 / 0."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_softmax"
CHECK = "test_large_scores_keep_their_differences"
HINT = "If one row holds scores around 1000 and another around 0, what does your shift leave of the second?"


def softmax(scores):
    exponentials = np.exp(scores - np.max(scores))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
