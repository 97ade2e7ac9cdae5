"""You divide by the sum over all entries, so the whole array sums to one instead of each row."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What is attn.sum(axis=-1)?"


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum()
