"""You also compare every head with itself, which is always a copy."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_copies_are_told_from_different_heads"
HINT = "What does your loop do when i equals j?"


def heads_differ(attn):
    h = attn.shape[0]
    for i in range(h):
        for j in range(h):
            if np.array_equal(attn[i], attn[j]):
                return False
    return True
