"""You compare each head with the next one only; the first and the third may be copies too."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_every_pair_of_heads_counts"
HINT = "How many pairs can be made of four heads?"


def heads_differ(attn):
    for i in range(len(attn) - 1):
        if np.array_equal(attn[i], attn[i + 1]):
            return False
    return True
