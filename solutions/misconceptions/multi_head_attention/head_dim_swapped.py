"""You return the number of heads; d_k is how many features one of them has."""

FAMILY = "counting"
LOSES = "test_head_dim"
CHECK = "test_heads_share_the_features"
HINT = "How many features do 2 heads of 3 features make?"


def head_dim(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return n_heads
