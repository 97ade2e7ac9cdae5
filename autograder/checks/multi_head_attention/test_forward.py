"""Hidden checks of the class `MultiHeadAttention`, its `split_heads` and its `forward`."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
import pytest

from autograder.checks.asserts import (
    ATOL,
    ATOL_FLOAT32,
    RTOL,
    RTOL_FLOAT32,
    Mismatch,
    assert_allclose,
    assert_array,
    assert_array_equal,
    assert_attention,
    assert_pair,
    assert_refused,
    assert_same_again,
    assert_unchanged,
)
from autograder.checks.layouts import layouts
from autograder.checks.student import StudentError, StudentMissing
from solutions.reference import multi_head_attention as reference

NAMES = ("Wq", "Wk", "Wv", "Wo")
BOTH = ("attn", "out")


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the student's, its number of heads, and the weights in it."""

    made: Any
    n_heads: int
    weights: reference.Weights


def new_layer(student, rng, n_heads, d_k):
    """Return a layer of the student's with new weights from N(0, 1/d_model)."""
    d_model = n_heads * d_k
    made = student.MultiHeadAttention(d_model, n_heads, seed=int(rng.integers(1, 10**6)))
    return put_weights(Layer(made, n_heads, own_weights(made, d_model)), rng)


def own_weights(made, d_model):
    """Return the weights that a layer was made with."""
    return reference.Weights(*(assert_array(getattr(made, name), (d_model, d_model), name=name) for name in NAMES))


def put_weights(layer, rng):
    """Return the layer with new weights put into it."""
    d_model = len(layer.weights.query)
    matrices = rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model))
    for name, matrix in zip(NAMES, matrices, strict=True):
        setattr(layer.made, name, matrix)
    return replace(layer, weights=reference.Weights(*matrices))


def causal_mask(n_tokens):
    """Return the mask that hides the future."""
    return np.triu(np.ones((n_tokens, n_tokens), dtype=bool), k=1)


def random_mask(rng, n_tokens):
    """Return an asymmetric mask in which every row keeps a key."""
    mask = rng.random((n_tokens, n_tokens)) < 0.5
    mask[np.arange(n_tokens), rng.integers(n_tokens, size=n_tokens)] = False
    return mask


def call(layer, x, mask=None):
    """Call forward with the arguments that there are."""
    return layer.made.forward(x) if mask is None else layer.made.forward(x, mask)


def compare(result, expected, mask, *, parts=BOTH, rtol=RTOL, atol=ATOL, where=""):
    """Accept a result of forward if the wanted parts of it are right."""
    out, attn = assert_pair(result, names=("out", "attn"), where=where)
    if "attn" in parts:
        assert_attention(attn, expected[1], mask=mask, rtol=rtol, atol=atol, where=where)
    if "out" in parts:
        assert_allclose(out, expected[0], rtol=rtol, atol=atol, name="out", where=where)


def is_right(result, expected, mask, **how):
    """Return whether a result of forward is right."""
    try:
        compare(result, expected, mask, **how)
    except Mismatch:
        return False
    return True


def judge(layer, x, result, mask=None, **how):
    """Accept a right result of forward, and tell a wrong split from a wrong forward."""
    expected = reference.forward(x, layer.weights, layer.n_heads, mask)
    try:
        compare(result, expected, mask, **how)
    except Mismatch as mismatch:
        if is_split_to_blame(layer, x, result, mask, **how):
            raise Mismatch(
                "Your forward is right, but it uses your split_heads, which puts numbers in the wrong place.",
                "Mend split_heads. Which token owns row 0 of head 1, and which of its features?",
            ) from None
        if how.get("parts") == ("out",) and is_right(result, expected, mask, **how | {"parts": ("attn",)}):
            hint = "The attention weights are right. What follows them: values, merge, output projection?"
            raise Mismatch(mismatch.rationale, hint) from None
        raise


def is_split_to_blame(layer, x, result, mask, **how):
    """Return whether a wrong result is what a right forward makes of the student's wrong split."""
    right = True

    def own_split(projected, n_heads):
        nonlocal right
        wanted = reference.split_heads(projected, n_heads)
        heads = assert_array(layer.made.split_heads(projected), wanted.shape)
        right = right and np.array_equal(heads, wanted)
        return heads

    try:
        expected = reference.forward(x, layer.weights, layer.n_heads, mask, split=own_split)
    except (Mismatch, StudentError, StudentMissing):
        return False
    return not right and is_right(result, expected, mask, **how)


@pytest.mark.points("0.5")
def test_split_heads_gives_each_head_its_columns(student, rng):
    """The method split_heads gives head i columns i·d_k to (i+1)·d_k of every token."""
    for n_tokens, n_heads, d_k in ((5, 2, 3), (4, 3, 2), (3, 1, 2), (1, 2, 2)):
        layer = new_layer(student, rng, n_heads, d_k)
        x = rng.normal(size=(n_tokens, n_heads * d_k))
        assert_array_equal(layer.made.split_heads(x), reference.split_heads(x, n_heads))


@pytest.mark.points(1)
def test_attention_weights_follow_the_formula(student, rng):
    """Without a mask, each head's weights are softmax(Q Kᵀ / √d_k), row by row."""
    made = student.MultiHeadAttention(6, 2, seed=int(rng.integers(1, 10**6)))
    x = rng.normal(size=(5, 6))
    layer = Layer(made, 2, own_weights(made, 6))
    judge(layer, x, call(layer, x), parts=("attn",))

    for n_tokens, n_heads, d_k in ((5, 2, 3), (7, 3, 5), (37, 5, 2)):
        layer = new_layer(student, rng, n_heads, d_k)
        x = rng.normal(size=(n_tokens, n_heads * d_k))
        judge(layer, x, call(layer, x), parts=("attn",))


@pytest.mark.points(1)
def test_output_follows_the_formula(student, rng):
    """Without a mask, the heads' averages of values stand side by side and are multiplied by W_O."""
    for n_tokens, n_heads, d_k in ((5, 2, 3), (7, 3, 5), (37, 5, 2)):
        layer = new_layer(student, rng, n_heads, d_k)
        x = rng.normal(size=(n_tokens, n_heads * d_k))
        judge(layer, x, call(layer, x), parts=("out",))


@pytest.mark.points("0.5")
def test_causal_mask_hides_the_future(student, rng):
    """With the causal mask, a token sees itself and what comes before it."""
    for n_tokens, n_heads, d_k in ((5, 2, 3), (13, 3, 2)):
        layer = new_layer(student, rng, n_heads, d_k)
        x = rng.normal(size=(n_tokens, n_heads * d_k))
        mask = causal_mask(n_tokens)
        judge(layer, x, call(layer, x, mask), mask)


@pytest.mark.points(1)
def test_any_mask_hides_what_it_says(student, rng):
    """Every boolean mask works: True hides that key (column) from that query (row), and nothing else is hidden."""
    n_tokens = 7
    padding = np.zeros((n_tokens, n_tokens), dtype=bool)
    padding[:, [0, -1]] = True
    masks = {
        "With a random mask": random_mask(rng, n_tokens),
        "With a mask that hides the first and last key": padding,
        "With a mask that hides every token from itself": np.eye(n_tokens, dtype=bool),
        "With a mask that hides nothing": np.zeros((n_tokens, n_tokens), dtype=bool),
        "With a mask that hides the past": causal_mask(n_tokens).T.copy(),
    }
    for where, mask in masks.items():
        layer = new_layer(student, rng, 2, 3)
        x = rng.normal(size=(n_tokens, 6))
        judge(layer, x, call(layer, x, mask), mask, where=where)


@pytest.mark.points("0.5")
def test_large_scores_do_no_harm(student, rng):
    """Scores around 1000 neither overflow, nor does a hidden key with the largest score shine through."""
    n_tokens, n_heads, d_k = 9, 2, 3
    layer = new_layer(student, rng, n_heads, d_k)
    x = 1000**0.5 * rng.normal(size=(n_tokens, n_heads * d_k))
    queries, keys = (reference.split_heads(x @ matrix, n_heads) for matrix in (layer.weights.query, layer.weights.key))
    scores = queries[0] @ keys[0].T / d_k**0.5
    best_hidden = scores > np.median(scores, axis=1, keepdims=True)

    for mask in (None, causal_mask(n_tokens), best_hidden):
        judge(layer, x, call(layer, x, mask), mask, where="With scores around 1000")


@pytest.mark.points("0.5")
def test_sizes_that_coincide_do_not_matter(student, rng):
    """The result is right for one token, one head or one feature, and where two sizes are equal."""
    cases = {
        "With one token": (1, 2, 3),
        "With one head": (5, 1, 3),
        "With one feature for each head": (5, 3, 1),
        "With as many tokens as heads": (3, 3, 2),
        "With as many tokens as features of a head": (3, 2, 3),
        "With as many heads as features of a head": (7, 3, 3),
        "With as many tokens as features": (6, 3, 2),
        "With tokens, heads and features of a head all equal": (3, 3, 3),
        "With one token, head and feature": (1, 1, 1),
    }
    for where, (n_tokens, n_heads, d_k) in cases.items():
        layer = new_layer(student, rng, n_heads, d_k)
        x = rng.normal(size=(n_tokens, n_heads * d_k))
        for mask in (None, random_mask(rng, n_tokens)):
            judge(layer, x, call(layer, x, mask), mask, where=where)


@pytest.mark.points("0.25")
def test_every_kind_of_array_counts_alike(student, rng):
    """Only the numbers of x matter, neither their dtype nor how they lie in memory."""
    n_tokens, n_heads, d_k = 5, 2, 4
    layer = new_layer(student, rng, n_heads, d_k)
    x = rng.normal(size=(n_tokens, n_heads * d_k))
    arrays = layouts(x) | {"With integers": rng.integers(-3, 4, size=x.shape)}

    for where, array in arrays.items():
        judge(layer, array, call(layer, array), where=where)
    single = x.astype(np.float32)
    mask = random_mask(rng, n_tokens)
    for hidden in (None, mask):
        result = call(layer, single, hidden)
        judge(layer, single, result, hidden, rtol=RTOL_FLOAT32, atol=ATOL_FLOAT32, where="In float32")


@pytest.mark.points("0.5")
def test_calls_do_not_disturb_each_other(student, rng):
    """A call changes no argument, no weight and no earlier result, and depends on no earlier call."""
    n_tokens, n_heads, d_k = 5, 3, 2
    layer = new_layer(student, rng, n_heads, d_k)
    first, second = rng.normal(size=(2, n_tokens, n_heads * d_k))
    mask, other_mask = random_mask(rng, n_tokens), random_mask(rng, n_tokens)

    made = layer.made.forward.record(first, mask)

    assert_unchanged(first, made.args[0], name="its argument x")
    assert_unchanged(mask, made.args[1], name="its argument mask")
    for name, matrix in zip(NAMES, astuple(layer.weights), strict=True):
        assert_unchanged(matrix, getattr(layer.made, name), name=f"the weight {name}")
    judge(layer, first, made.result, mask)
    judge(layer, second, call(layer, second), where="Without a mask, after a call with one")
    judge(layer, second, call(layer, second, other_mask), other_mask, where="With another mask")
    judge(layer, first, call(layer, first, mask), mask, where="When called again with the same x")
    assert_same_again(made.result, made.reread(), name="The first result", when="after more calls")
    layer = put_weights(layer, rng)
    judge(layer, first, call(layer, first), where="With new weights in the same layer")


@pytest.mark.points("0.25")
def test_uneven_heads_are_refused(student, rng):
    """A number of heads that does not divide d_model raises an exception, at once or in forward."""
    layer = new_layer(student, rng, 2, 3)
    out, attn = assert_pair(call(layer, rng.normal(size=(5, 6))), names=("out", "attn"))
    assert_array(out, (5, 6), name="out")
    assert_array(attn, (2, 5, 5), name="attn")

    for d_model, n_heads in ((7, 2), (10, 4), (3, 5)):
        x = rng.normal(size=(4, d_model))
        assert_refused(
            lambda d=d_model, h=n_heads, x=x: student.MultiHeadAttention(d, h).forward(x),
            StudentError,
            case=f"{n_heads} heads for {d_model} features",
        )
