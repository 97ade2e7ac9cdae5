"""You compare all heads with the first one only; two later heads may be copies of each other."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_every_pair_of_heads_counts"
HINT = "How many pairs can be made of four heads?"


def heads_differ(attn):
    return not any(np.array_equal(attn[0], attn[i]) for i in range(1, len(attn)))
