"""
You name the tokens of a right split, where every head sees all of them; the question is what a bare
reshape gives.
"""

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_naive_heads_take_whole_tokens"
HINT = "In which order does reshape hand out the numbers of x?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    return list(range(n_tokens))
