"""
You let the memory layout of x decide how it is reshaped, so equal arrays that are stored differently
give different heads.
"""

FAMILY = "layout"
LOSES = "test_split_heads"
CHECK = "test_every_kind_of_array_is_split_alike"
HINT = "Try x and np.asfortranarray(x): are the two results equal?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    return x.reshape((T, n_heads, d_k), order="A").transpose(1, 0, 2)
