"""
You ask that two heads differ in every entry; under a causal mask all heads share zeros and are still
different.
"""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_one_different_row_is_enough"
HINT = "When are two heads copies: if one entry is equal, or if all are?"


def heads_differ(attn):
    for i in range(len(attn)):
        for j in range(i):
            if np.any(attn[i] == attn[j]):
                return False
    return True
