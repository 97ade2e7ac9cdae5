"""You divide by the sum of the whole table, so all rows together share a total of one."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_softmax"
CHECK = "test_each_row_is_shared_out"
HINT = "Print the sum of each row: weights.sum(axis=-1)."


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum()
