"""You sum over axis 1, which is the last one only if there are two."""

import numpy as np

FAMILY = "sizes"
LOSES = "test_softmax"
CHECK = "test_the_last_axis_is_the_row"
HINT = "Which number names the last axis, however many there are?"


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)
