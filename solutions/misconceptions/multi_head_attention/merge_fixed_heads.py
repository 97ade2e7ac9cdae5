"""You wrote the number of heads of one example into the code, so other heads are left out."""

import numpy as np

FAMILY = "sizes"
LOSES = "test_merge_heads"
CHECK = "test_sizes_that_coincide_do_not_matter"
HINT = "Try three heads."


def merge_heads(heads):
    return np.concatenate([heads[0], heads[1]], axis=1) if len(heads) > 1 else heads[0]
