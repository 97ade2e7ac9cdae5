"""You round an uneven share down without a word, so the last features belong to no head."""

FAMILY = "sizes"
LOSES = "test_head_dim"
CHECK = "test_uneven_heads_are_refused"
HINT = "How many features do all heads have together when d_model is 7 and n_heads is 2?"


def head_dim(d_model, n_heads):
    return d_model // n_heads
