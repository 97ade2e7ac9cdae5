"""You reshape in Fortran order, so consecutive numbers of x go to different heads and tokens."""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "In which order does your reshape read the numbers of x?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(n_heads, T, d_model // n_heads, order="F")
