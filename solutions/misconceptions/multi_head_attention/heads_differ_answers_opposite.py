"""You return True when two heads are copies; the question is whether all of them differ."""

import numpy as np

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_copies_are_told_from_different_heads"
HINT = "Read the name of the function as a question and answer it for two equal heads."


def heads_differ(attn):
    h = len(attn)
    return any(np.array_equal(attn[i], attn[j]) for i in range(h) for j in range(i + 1, h))
