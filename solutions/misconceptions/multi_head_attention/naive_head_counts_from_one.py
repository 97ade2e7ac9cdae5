"""You count the heads from one, so every answer is that of the head before."""

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_naive_heads_take_whole_tokens"
HINT = "What does your function say about head 0?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    block = n_tokens * d_model // n_heads
    positions = range((head - 1) * block, head * block)
    return sorted({position // d_model for position in positions})
