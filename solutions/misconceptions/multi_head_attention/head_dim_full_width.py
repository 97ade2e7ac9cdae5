"""You let every head keep all d_model features; heads share the features, they do not copy them."""

FAMILY = "counting"
LOSES = "test_head_dim"
CHECK = "test_heads_share_the_features"
HINT = "How wide is the merged result if every head is d_model wide?"


def head_dim(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return d_model
