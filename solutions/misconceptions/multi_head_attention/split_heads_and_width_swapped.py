"""You have swapped the number of heads and the width of a head."""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "How long is the first axis of your result, and how many heads are there?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    return x.reshape(T, d_k, n_heads).transpose(1, 0, 2)
