"""You subtract within the array that was handed over, so the caller's scores are changed."""

import numpy as np

FAMILY = "state"
LOSES = "test_softmax"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "What is the difference between scores -= c and scores = scores - c?"


def softmax(scores):
    scores -= scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
