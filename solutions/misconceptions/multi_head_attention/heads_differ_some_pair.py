"""You say yes as soon as one pair differs; no pair at all may be equal."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_every_pair_of_heads_counts"
HINT = "What if heads 0 and 1 are copies and head 2 is different?"


def heads_differ(attn):
    for i in range(len(attn)):
        for j in range(i + 1, len(attn)):
            if not np.array_equal(attn[i], attn[j]):
                return True
    return len(attn) == 1
