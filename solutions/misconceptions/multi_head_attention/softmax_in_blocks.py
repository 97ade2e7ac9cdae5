"""
You work through the keys in blocks and shift each by its own largest score; the blocks of a row need one
common shift.
"""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Try a row that is longer than one block, with its largest score in the second."


def softmax(scores, axis=-1):
    powers = np.empty(scores.shape)
    for start in range(0, scores.shape[axis], 4):
        block = scores[..., start : start + 4]
        largest = block.max(axis=-1, keepdims=True)
        powers[..., start : start + 4] = np.exp(block - np.where(np.isfinite(largest), largest, 0))
    return powers / powers.sum(axis=-1, keepdims=True)
