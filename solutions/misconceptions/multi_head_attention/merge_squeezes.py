"""
You squeeze before you put the heads together, so one token, one head or one feature per head loses an
axis.
"""

import numpy as np

FAMILY = "sizes"
LOSES = "test_merge_heads"
CHECK = "test_sizes_that_coincide_do_not_matter"
HINT = "Try heads of shape (2, 1, 3)."


def merge_heads(heads):
    pieces = [np.squeeze(head) for head in heads]
    return np.concatenate(pieces, axis=-1)
