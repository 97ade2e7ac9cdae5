"""You take one feature from each head in turn; a token keeps the features of a head together."""

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "In row 0 of the result, which d_k numbers come first?"


def merge_heads(heads):
    h, T, d_k = heads.shape
    return heads.transpose(1, 2, 0).reshape(T, h * d_k)
