"""You list a token once for every number of it; each token should be named once."""

import numpy as np

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_naive_heads_take_whole_tokens"
HINT = "How often does token 0 appear in your list?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    owners = np.repeat(np.arange(n_tokens), d_model)
    return owners.reshape(n_heads, -1)[head].tolist()
