"""You round an uneven share down without a word, so the last features belong to no head."""

LOSES = "test_head_dim"
HINT = "How many features do all heads have together when d_model is 7 and n_heads is 2?"


def head_dim(d_model, n_heads):
    return d_model // n_heads
