"""You raise 2 instead of e to the scores, so the weights are too flat."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Which function is exp?"


def softmax(scores, axis=-1):
    powers = np.exp2(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
