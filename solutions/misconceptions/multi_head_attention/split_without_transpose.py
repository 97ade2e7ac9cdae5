"""
You cut the features into heads but leave the head axis in the middle: (T, h, d_k) instead of (h, T,
d_k).
"""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Write the three axis names of your result next to its shape."


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(T, n_heads, d_model // n_heads)
