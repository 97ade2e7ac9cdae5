"""You round the end of the block down, so a token of which only a part lands in this head is forgotten."""

LOSES = "test_tokens_in_naive_head"
HINT = "Which token owns the very last number of the block?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    block = n_tokens * d_model // n_heads
    start = head * block // d_model
    stop = (head + 1) * block // d_model
    return list(range(start, stop))
