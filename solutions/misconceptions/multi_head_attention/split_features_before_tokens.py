"""Your axes come out as (h, d_k, T): tokens and features have changed places."""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Which axis should be the last one?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(T, n_heads, d_model // n_heads).transpose(1, 2, 0)
