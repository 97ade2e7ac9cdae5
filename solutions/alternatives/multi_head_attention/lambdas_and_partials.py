"""Defines names by lambda and functools.partial instead of def."""

from functools import partial

import numpy as np


def share(total, n_heads, power):
    if total % n_heads:
        raise ValueError("uneven heads")
    return (total // n_heads) ** power


head_dim = partial(share, power=1)
parameter_count = lambda d_model, n_heads: 4 * (n_heads * share(d_model, n_heads, 1)) ** 2
single_head_parameter_count = partial(parameter_count, n_heads=1)
d_k, n_parameters, n_parameters_single_head = 2**6, 2**20, 2**20


def cut(x, n_heads, axis):
    return np.array(np.split(x, n_heads, axis=axis))


split_heads = partial(cut, axis=1)
merge_heads = partial(np.concatenate, axis=1)
tokens_in_naive_head = lambda n_tokens, d_model, n_heads, head: sorted(
    {i // d_model for i in range(n_tokens * d_model) if i * n_heads // (n_tokens * d_model) == head}
)
roundtrip_is_exact = lambda x, heads: np.array_equal(np.concatenate(heads, axis=1), x)
heads_differ = lambda attn: len({weights.tobytes() for weights in attn}) == len(attn)
