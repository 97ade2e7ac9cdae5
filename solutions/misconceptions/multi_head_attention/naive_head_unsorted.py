"""You turn a set into a list: a set keeps its numbers in no promised order."""

import numpy as np

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_naive_heads_take_whole_tokens"
HINT = "Print list({8, 7})."


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    owner = np.repeat(np.arange(n_tokens), d_model)
    naive = owner.reshape(n_heads, n_tokens, d_model // n_heads)
    return list(set(naive[head].ravel().tolist()))
