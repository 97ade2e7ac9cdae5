"""You divide the positions by d_k, which gives rows of the heads; a token of x is d_model numbers long."""

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_naive_heads_take_whole_tokens"
HINT = "How many numbers of x belong to one token?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    d_k = d_model // n_heads
    block = n_tokens * d_k
    positions = range(head * block, (head + 1) * block)
    return sorted({position // d_k for position in positions})
