"""You add one to the denominator, so the rows sum to less than one."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What is attn.sum(axis=-1)?"


def softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / (1 + powers.sum(axis=axis, keepdims=True))
