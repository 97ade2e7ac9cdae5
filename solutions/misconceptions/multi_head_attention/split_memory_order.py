"""
You let the memory layout of x decide how it is reshaped, so equal arrays that are stored differently
give different heads.
"""

LOSES = "test_split_heads"
HINT = "Try x and np.asfortranarray(x): are the two results equal?"


def split_heads(x, n_heads):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    return x.reshape((T, n_heads, d_k), order="A").transpose(1, 0, 2)
