"""
You only reshape: the rows of the first head fill the first tokens, instead of each token getting a
piece of every head.
"""

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "Row t of the result must hold token t of every head."


def merge_heads(heads):
    h, T, d_k = heads.shape
    return heads.reshape(T, h * d_k)
