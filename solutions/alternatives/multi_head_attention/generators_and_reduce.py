"""Chains generators, `reduce` and the functions of the module operator."""

from functools import reduce
from itertools import combinations, groupby, islice
from operator import add, eq, mul

import numpy as np


def parameter_count(d_model, n_heads):
    sizes = ((d_model, head_dim(d_model, n_heads), n_heads) for _ in range(4))
    return reduce(add, (reduce(mul, size) for size in sizes))


def columns_of(x, n_heads):
    d_k, rest = divmod(x.shape[1], n_heads)
    assert rest == 0
    columns = iter(x.T)
    for _ in range(n_heads):
        yield [*islice(columns, d_k)]


def split_heads(x, n_heads):
    return np.array([*columns_of(x, n_heads)]).transpose(0, 2, 1)


def merge_heads(heads):
    return reduce(lambda left, right: np.concatenate((left, right), axis=1), heads)


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    block = n_tokens * d_model // n_heads
    owners = (number // d_model for number in range(head * block, (head + 1) * block))
    return tuple(token for token, _ in groupby(owners))


def roundtrip_is_exact(x, heads):
    return all(map(eq, x.flat, merge(heads).flat))


def merge(heads):
    return np.array([[*np.concatenate(features)] for features in zip(*heads, strict=True)])


def heads_differ(attn):
    return not any(np.abs(a - b).sum() < 1e-9 for a, b in combinations(attn, 2))
