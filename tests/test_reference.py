"""The reference: the laws that make it right, stated apart from how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solutions.reference import multi_head_attention as reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

small = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)


def layer(seed: int, n_heads: int, d_k: int) -> reference.MultiHeadAttention:
    """Return a layer of h heads with d_k features each."""
    return reference.MultiHeadAttention(n_heads * d_k, n_heads, seed=seed)


def some_mask(rng: np.random.Generator, n_tokens: int) -> Array:
    """Return a mask in which every row keeps a visible key."""
    mask = rng.random((n_tokens, n_tokens)) < 0.5
    mask[np.arange(n_tokens), rng.integers(0, n_tokens, n_tokens)] = False
    return mask


def einsum_forward(model: reference.MultiHeadAttention, x: Array, mask: Array | None) -> tuple[Array, Array]:
    """Return out and attn by another way: reshape, einsum and one softmax over all heads."""
    query, key, value = (
        (x @ weight).reshape(len(x), model.h, model.dk) for weight in (model.Wq, model.Wk, model.Wv)
    )
    scores = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(model.dk)
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("hqk,khd->qhd", weights, value).reshape(len(x), -1) @ model.Wo, weights


@given(n_tokens=small, n_heads=small, d_k=small)
def test_merging_undoes_splitting(n_tokens: int, n_heads: int, d_k: int) -> None:
    """Not a number is lost or moved on the way there and back."""
    x = np.arange(n_tokens * n_heads * d_k).reshape(n_tokens, n_heads * d_k)

    assert np.array_equal(reference.merge_heads(reference.split_heads(x, n_heads)), x)


@given(n_tokens=small, n_heads=small, d_k=small)
def test_a_head_is_a_block_of_columns(n_tokens: int, n_heads: int, d_k: int) -> None:
    """heads[i, t, j] is x[t, i·d_k + j]; the roundtrip alone would let any bijection pass."""
    x = np.arange(n_tokens * n_heads * d_k).reshape(n_tokens, n_heads * d_k)
    head, token, feature = np.indices((n_heads, n_tokens, d_k))

    assert np.array_equal(reference.split_heads(x, n_heads), x[token, head * d_k + feature])


@given(n_tokens=small, n_heads=small, d_k=small)
def test_tokens_in_a_naive_head_are_those_a_reshape_puts_there(n_tokens: int, n_heads: int, d_k: int) -> None:
    """By experiment: number the features by their token, and only reshape."""
    owner = np.repeat(np.arange(n_tokens), n_heads * d_k).reshape(n_heads, -1)

    for head in range(n_heads):
        found = reference.tokens_in_naive_head(n_tokens, n_heads * d_k, n_heads, head)
        assert found == sorted(set(owner[head].tolist()))


@given(seed=seeds, n_tokens=small, n_heads=small, d_k=small, masked=st.booleans())
def test_forward_is_what_einsum_gives(
    seed: int, n_tokens: int, n_heads: int, d_k: int, *, masked: bool
) -> None:
    """The same formula, written another way."""
    rng = np.random.default_rng(seed)
    model = layer(seed, n_heads, d_k)
    x = rng.normal(size=(n_tokens, n_heads * d_k))
    mask = some_mask(rng, n_tokens) if masked else None

    out, attn = model.forward(x, mask)

    expected_out, expected_attn = einsum_forward(model, x, mask)
    np.testing.assert_allclose(attn, expected_attn, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(out, expected_out, rtol=1e-9, atol=1e-12)


@given(seed=seeds, n_tokens=small, n_heads=small, d_k=small)
def test_weights_are_probabilities_and_hidden_keys_get_none(
    seed: int, n_tokens: int, n_heads: int, d_k: int
) -> None:
    """Rows sum to one; True in the mask means weight zero."""
    rng = np.random.default_rng(seed)
    mask = some_mask(rng, n_tokens)
    x = rng.normal(size=(n_tokens, n_heads * d_k), scale=10)

    _, attn = layer(seed, n_heads, d_k).forward(x, mask)

    assert attn.shape == (n_heads, n_tokens, n_tokens)
    np.testing.assert_allclose(attn.sum(axis=-1), 1, rtol=1e-12)
    assert np.all(attn[:, mask] == 0)


@given(seed=seeds, n_tokens=st.integers(2, 6), n_heads=small, d_k=small)
def test_the_future_does_not_change_the_past(seed: int, n_tokens: int, n_heads: int, d_k: int) -> None:
    """Under a causal mask, another last token leaves the rows before it alone."""
    rng = np.random.default_rng(seed)
    model = layer(seed, n_heads, d_k)
    causal = np.triu(np.ones((n_tokens, n_tokens), dtype=bool), k=1)
    x = rng.normal(size=(n_tokens, n_heads * d_k))
    changed = np.vstack([x[:-1], rng.normal(size=(1, n_heads * d_k))])

    before, after = (model.forward(tokens, causal)[0] for tokens in (x, changed))

    np.testing.assert_allclose(before[:-1], after[:-1], rtol=1e-12)


@given(seed=seeds, n_tokens=small, n_heads=small, d_k=small)
def test_tokens_have_no_order_of_their_own(seed: int, n_tokens: int, n_heads: int, d_k: int) -> None:
    """Without a mask, shuffled tokens give shuffled results."""
    rng = np.random.default_rng(seed)
    model = layer(seed, n_heads, d_k)
    x = rng.normal(size=(n_tokens, n_heads * d_k))
    order = rng.permutation(n_tokens)

    out, shuffled = model.forward(x)[0], model.forward(x[order])[0]

    np.testing.assert_allclose(shuffled, out[order], rtol=1e-9, atol=1e-12)


@given(seed=seeds, shift=st.floats(-1e6, 1e6))
def test_softmax_does_not_change_under_a_shift(seed: int, shift: float) -> None:
    """Which is why the largest score may be taken off, and large scores do no harm."""
    scores = np.random.default_rng(seed).normal(size=(3, 5))

    np.testing.assert_allclose(
        reference.softmax(scores + shift), reference.softmax(scores), rtol=1e-6, atol=1e-12
    )


@given(n_heads=st.integers(1, 40), d_k=st.integers(1, 40))
def test_parameters_do_not_depend_on_the_heads(n_heads: int, d_k: int) -> None:
    """Heads share d_model: all four projections have d_model² weights, whatever h is."""
    d_model = n_heads * d_k

    assert reference.head_dim(d_model, n_heads) == d_k
    assert reference.parameter_count(d_model, n_heads) == 4 * d_model**2
    assert reference.single_head_parameter_count(d_model) == reference.parameter_count(d_model, 1)


@pytest.mark.parametrize(("d_model", "n_heads"), [(5, 2), (6, 4), (3, 5), (1, 2)])
def test_uneven_heads_are_refused(d_model: int, n_heads: int) -> None:
    """Everywhere that heads share features."""
    for call in (
        lambda: reference.head_dim(d_model, n_heads),
        lambda: reference.parameter_count(d_model, n_heads),
        lambda: reference.split_heads(np.zeros((3, d_model)), n_heads),
        lambda: reference.MultiHeadAttention(d_model, n_heads).forward(np.zeros((3, d_model))),
    ):
        with pytest.raises(ValueError, match="evenly"):
            call()
