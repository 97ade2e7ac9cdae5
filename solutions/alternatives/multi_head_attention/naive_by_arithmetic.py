"""Finds the first and the last token of a naive head by integer division."""


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    block = n_tokens * (d_model // n_heads)
    first = head * block // d_model
    last = ((head + 1) * block - 1) // d_model
    return list(range(first, last + 1))
