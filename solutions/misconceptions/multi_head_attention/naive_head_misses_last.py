"""You round the end of the block down, so a token of which only a part lands in this head is forgotten."""

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_a_token_may_fall_into_two_naive_heads"
HINT = "Which token owns the very last number of the block?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    block = n_tokens * d_model // n_heads
    start = head * block // d_model
    stop = (head + 1) * block // d_model
    return list(range(start, stop))
