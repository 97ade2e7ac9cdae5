"""You deal the columns out like cards, one to each head in turn; a head owns neighbouring columns."""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_each_head_owns_its_own_columns"
HINT = "Which columns of x should head 0 own?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    return x.reshape(T, d_k, n_heads).transpose(2, 0, 1)
