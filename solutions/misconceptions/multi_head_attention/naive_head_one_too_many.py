"""You count the token behind the block as well when the block ends exactly with a token."""

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_naive_heads_take_whole_tokens"
HINT = "Is the end of the block its last number or the first number after it?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    block = n_tokens * d_model // n_heads
    first = head * block // d_model
    last = (head + 1) * block // d_model
    return list(range(first, last + 1))
