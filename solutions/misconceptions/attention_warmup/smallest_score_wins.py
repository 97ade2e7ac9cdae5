"""You take exp(largest - score), so the key that fits least gets the largest weight."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_softmax"
CHECK = "test_each_row_is_shared_out"
HINT = "Which key has the largest weight in your softmax of (0, 1, 2)?"


def softmax(scores):
    smallest = scores.min(axis=-1, keepdims=True)
    exponentials = np.exp(smallest - scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
