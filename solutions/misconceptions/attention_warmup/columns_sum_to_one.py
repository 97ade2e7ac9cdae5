"""You sum over the queries, so the columns of the table sum to one, and not its rows."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_softmax"
CHECK = "test_each_row_is_shared_out"
HINT = "Along which axis do the keys of one query lie?"


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=0)
