"""You use .T, which reverses all three axes; only the first two change places."""

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "What is the shape of heads.T?"


def merge_heads(heads):
    h, T, d_k = heads.shape
    return heads.T.reshape(T, h * d_k)
