"""You compare which key each query likes best; maps with the same favourites may still differ."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_one_different_row_is_enough"
HINT = "Is a weight of 0.9 the same as one of 0.5?"


def heads_differ(attn):
    best = attn.argmax(axis=-1)
    return not any(np.array_equal(best[i], best[j]) for i in range(len(attn)) for j in range(i))
