"""
You only reshape: the rows of the first head fill the first tokens, instead of each token getting a
piece of every head.
"""

LOSES = "test_merge_heads"
HINT = "Row t of the result must hold token t of every head."


def merge_heads(heads):
    h, T, d_k = heads.shape
    return heads.reshape(T, h * d_k)
