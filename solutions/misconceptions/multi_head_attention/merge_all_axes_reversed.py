"""You use .T, which reverses all three axes; only the first two change places."""

LOSES = "test_merge_heads"
HINT = "What is the shape of heads.T?"


def merge_heads(heads):
    h, T, d_k = heads.shape
    return heads.T.reshape(T, h * d_k)
