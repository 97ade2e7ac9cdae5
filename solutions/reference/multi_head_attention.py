"""
Multi-head attention in float64, written for reading.

Nothing here is clever: heads are handled one after the other, and splitting
and merging copy explicit column blocks, so that every function can be compared
with its formula by eye. The hidden checks compare students' results with these.

Letters: T tokens, h heads, d_model features of a token, d_k = d_model / h
features of a head. In every mask True means hidden: that query (row) may not
see that key (column).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Mask = NDArray[np.bool_]
    Split = Callable[[Array, int], Array]


def head_dim(d_model: int, n_heads: int) -> int:
    """
    Return the number of features d_k that each head gets.

    Parameters
    ----------
    d_model : int
        Features of a token.
    n_heads : int
        Heads that share them.

    Returns
    -------
    int
        d_k = d_model / n_heads.

    Raises
    ------
    ValueError
        If the heads cannot share the features evenly.
    """
    if n_heads < 1 or d_model % n_heads:
        message = f"{n_heads} heads cannot share {d_model} features evenly"
        raise ValueError(message)
    return d_model // n_heads


def parameter_count(d_model: int, n_heads: int) -> int:
    """
    Return the number of weights of a multi-head attention layer, no biases.

    Parameters
    ----------
    d_model : int
        Features of a token.
    n_heads : int
        Heads that share them.

    Returns
    -------
    int
        Weights of the query, key and value projections of all heads and of
        the output projection.

    Raises
    ------
    ValueError
        If the heads cannot share the features evenly.
    """
    d_k = head_dim(d_model, n_heads)
    per_head = 3 * d_model * d_k
    output = n_heads * d_k * d_model
    return n_heads * per_head + output


def single_head_parameter_count(d_model: int) -> int:
    """
    Return the number of weights of one head with d_k = d_model, W_O included.

    Parameters
    ----------
    d_model : int
        Features of a token.

    Returns
    -------
    int
        Weights of its query, key, value and output projection.
    """
    return parameter_count(d_model, 1)


def split_heads(x: Array, n_heads: int) -> Array:
    """
    Give each head its own block of columns of `x`.

    Parameters
    ----------
    x : ndarray, shape (T, d_model)
        One row per token.
    n_heads : int
        Number of heads h.

    Returns
    -------
    ndarray, shape (h, T, d_k)
        Head i holds columns i * d_k to (i + 1) * d_k of every token.

    Raises
    ------
    ValueError
        If the heads cannot share the features evenly.
    """
    d_k = head_dim(x.shape[1], n_heads)
    return np.stack([x[:, head * d_k : (head + 1) * d_k] for head in range(n_heads)])


def merge_heads(heads: Array) -> Array:
    """
    Put the columns of all heads side by side again.

    Parameters
    ----------
    heads : ndarray, shape (h, T, d_k)
        One block per head.

    Returns
    -------
    ndarray, shape (T, d_model)
        Row t holds token t of head 0, then of head 1, and so on.
    """
    return np.concatenate(list(heads), axis=1)


def tokens_in_naive_head(n_tokens: int, d_model: int, n_heads: int, head: int) -> list[int]:
    """
    Return whose features a head gets if x is only reshaped to (h, T, d_k).

    Parameters
    ----------
    n_tokens : int
        Rows T of x.
    d_model : int
        Features of a token.
    n_heads : int
        Number of heads h.
    head : int
        The head asked about, from 0.

    Returns
    -------
    list of int
        The tokens, each once, in increasing order.
    """
    owners = np.repeat(np.arange(n_tokens), d_model)  # the token behind each number of x, in order
    naive = owners.reshape(n_heads, n_tokens, head_dim(d_model, n_heads))
    return [int(token) for token in np.unique(naive[head])]


def softmax(scores: Array, axis: int = -1) -> Array:
    """
    Turn scores into weights that are positive and sum to one.

    Parameters
    ----------
    scores : ndarray of float
        Any shape; -inf becomes weight 0.
    axis : int
        The axis along which the weights sum to one.

    Returns
    -------
    ndarray of float
        Weights of the same shape.
    """
    # exp overflows float64 above 709; a shift does not change the quotient.
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def attention_map(query: Array, key: Array, mask: Mask | None = None) -> Array:
    """
    Return how well each key answers each query, as weights.

    Parameters
    ----------
    query, key : ndarray of float, shape (T, d_k)
        One head.
    mask : ndarray of bool, shape (T, T), optional
        True hides a key (column) from a query (row). None hides nothing.

    Returns
    -------
    ndarray of float, shape (T, T)
        Row t holds the weights of the keys for query t, with sum one.
    """
    scores = query @ key.T / np.sqrt(query.shape[1])
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    return softmax(scores)


@dataclass(frozen=True, slots=True)
class Weights:
    """
    The four projections of a layer, each (d_model, d_model), applied as x @ W.

    Parameters
    ----------
    query, key, value : ndarray of float
        Column block i belongs to head i.
    output : ndarray of float
        Row block i meets the result of head i.
    """

    query: Array
    key: Array
    value: Array
    output: Array


def attention_maps(
    x: Array, weights: Weights, n_heads: int, mask: Mask | None = None, *, split: Split = split_heads
) -> Array:
    """
    Return the attention maps of all heads.

    Parameters
    ----------
    x : ndarray, shape (T, d_model)
        One row per token.
    weights : Weights
        The projections.
    n_heads : int
        Number of heads h.
    mask : ndarray of bool, shape (T, T), optional
        True hides a key (column) from a query (row). None hides nothing.
    split : callable
        What splits (T, d_model) into (h, T, d_k). With a student's own split
        it tells whether a wrong result comes from the split alone.

    Returns
    -------
    ndarray of float, shape (h, T, T)
        One map per head; each row sums to one.
    """
    x = np.asarray(x, dtype=np.float64)
    queries, keys = split(x @ weights.query, n_heads), split(x @ weights.key, n_heads)
    return np.stack([attention_map(query, key, mask) for query, key in zip(queries, keys, strict=True)])


def output(attn: Array, x: Array, weights: Weights, *, split: Split = split_heads) -> Array:
    """
    Return the output that belongs to given attention maps.

    Parameters
    ----------
    attn : ndarray of float, shape (h, T, T)
        One map per head.
    x : ndarray, shape (T, d_model)
        One row per token.
    weights : Weights
        The projections.
    split : callable
        What splits (T, d_model) into (h, T, d_k).

    Returns
    -------
    ndarray of float, shape (T, d_model)
        The mixed values of all heads, merged, times the output projection.
    """
    x = np.asarray(x, dtype=np.float64)
    values = split(x @ weights.value, len(attn))
    mixed = np.stack([one_map @ value for one_map, value in zip(attn, values, strict=True)])
    return np.asarray(merge_heads(mixed) @ weights.output)


def forward(
    x: Array, weights: Weights, n_heads: int, mask: Mask | None = None, *, split: Split = split_heads
) -> tuple[Array, Array]:
    """
    Return output and attention maps of a whole layer.

    Parameters
    ----------
    x : ndarray, shape (T, d_model)
        One row per token.
    weights : Weights
        The projections.
    n_heads : int
        Number of heads h.
    mask : ndarray of bool, shape (T, T), optional
        True hides a key (column) from a query (row). None hides nothing.
    split : callable
        What splits (T, d_model) into (h, T, d_k).

    Returns
    -------
    out : ndarray of float, shape (T, d_model)
        The merged results of all heads times the output projection.
    attn : ndarray of float, shape (h, T, T)
        One map per head; each row sums to one.
    """
    attn = attention_maps(x, weights, n_heads, mask, split=split)
    return output(attn, x, weights, split=split), attn


class MultiHeadAttention:
    """
    A layer with its own weights, as the third notebook asks for it.

    Parameters
    ----------
    d_model : int
        Features of a token.
    n_heads : int
        Heads that share them.
    seed : int
        Seed of the weights, drawn from N(0, 1 / d_model).

    Raises
    ------
    ValueError
        If the heads cannot share the features evenly.
    """

    def __init__(self, d_model: int, n_heads: int, seed: int = 0) -> None:
        self.h = n_heads
        self.dk = head_dim(d_model, n_heads)
        rng = np.random.default_rng(seed)
        self.Wq, self.Wk, self.Wv, self.Wo = rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model))

    def split_heads(self, x: Array) -> Array:
        """Give each head its own block of columns, as the function `split_heads` does."""
        return split_heads(x, self.h)

    def forward(self, x: Array, mask: Mask | None = None) -> tuple[Array, Array]:
        """Return output and attention maps, as the function `forward` does."""
        return forward(x, Weights(self.Wq, self.Wk, self.Wv, self.Wo), self.h, mask)


def roundtrip_is_exact(x: Array, heads: Array) -> bool:
    """
    Return whether merging `heads` gives exactly `x`.

    Parameters
    ----------
    x : ndarray, shape (T, d_model)
        What was split.
    heads : ndarray, shape (h, T, d_k)
        What some split made of it.

    Returns
    -------
    bool
        True if every number is back in its place, unchanged.
    """
    return bool(np.array_equal(merge_heads(heads), x))


def heads_differ(attn: Array) -> bool:
    """
    Return whether no two heads are copies of each other.

    Parameters
    ----------
    attn : ndarray of float, shape (h, T, T)
        One attention map per head.

    Returns
    -------
    bool
        True if every pair of maps differs somewhere; True for a single head.
    """
    n_heads = len(attn)
    return not any(
        np.array_equal(attn[first], attn[second])
        for first in range(n_heads)
        for second in range(first + 1, n_heads)
    )
