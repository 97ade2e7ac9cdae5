"""
You look for the last token one number too early, so a token with a single number in this head is
forgotten.
"""

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_a_token_may_fall_into_two_naive_heads"
HINT = "At which position does the last number of the block stand?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    block = n_tokens * d_model // n_heads
    first = head * block // d_model
    last = ((head + 1) * block - 2) // d_model
    return list(range(first, last + 1))
