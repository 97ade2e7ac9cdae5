"""You share out whole tokens, T / h to each head; but a block may begin and end inside a token."""

LOSES = "test_tokens_in_naive_head"
HINT = "With 5 tokens and 2 heads, who gets the middle token?"


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    per_head = n_tokens // n_heads
    return list(range(head * per_head, (head + 1) * per_head))
