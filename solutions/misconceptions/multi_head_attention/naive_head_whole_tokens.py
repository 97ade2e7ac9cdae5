"""You share out whole tokens, T / h to each head; but a block may begin and end inside a token."""

FAMILY = "layout"
LOSES = "test_tokens_in_naive_head"
CHECK = "test_a_token_may_fall_into_two_naive_heads"
HINT = "With 5 tokens and 2 heads, who gets the middle token?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    per_head = n_tokens // n_heads
    return list(range(head * per_head, (head + 1) * per_head))
