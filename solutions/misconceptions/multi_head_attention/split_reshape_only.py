"""
You only reshape: reshape never moves a number, so the first head gets whole tokens instead of the first
columns of every token.
"""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Which token owns row 0 of head 1?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    return x.reshape(n_heads, T, d_k)
