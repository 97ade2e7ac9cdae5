"""You take one feature from each head in turn; a token keeps the features of a head together."""

LOSES = "test_merge_heads"
HINT = "In row 0 of the result, which d_k numbers come first?"


def merge_heads(heads):
    h, T, d_k = heads.shape
    return heads.transpose(1, 2, 0).reshape(T, h * d_k)
