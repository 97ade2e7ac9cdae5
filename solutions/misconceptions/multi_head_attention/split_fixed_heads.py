"""You wrote the number of heads of one example into the code, so the function works only there."""

FAMILY = "sizes"
LOSES = "test_split_heads"
CHECK = "test_sizes_that_coincide_do_not_matter"
HINT = "Call it with three heads: which number in your code should follow?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // 2
    return x.reshape(T, 2, d_k).transpose(1, 0, 2)
