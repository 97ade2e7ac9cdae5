"""
You transpose before you reshape, which scrambles tokens and features; the last axis has to be cut
before it is moved.
"""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Cut the last axis into (h, d_k) first: which axis moves to the front then?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    assert d_model % n_heads == 0
    return x.T.reshape(n_heads, T, d_model // n_heads)
