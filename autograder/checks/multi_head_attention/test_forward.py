"""
Hidden checks of the class `MultiHeadAttention`, its `split_heads` and its `forward`.

What a mistake breaks costs its points; `forward_cases` says how that is told.
The later checks, on edges, want everything right.
"""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import partial

import numpy as np
import pytest

from autograder.checks.asserts import FLOAT32, assert_array_equal
from autograder.checks.effects import assert_refused, assert_returned, assert_same_again, assert_unchanged
from autograder.checks.layouts import layouts
from autograder.checks.multi_head_attention.forward_cases import (
    NAMES,
    Case,
    given,
    judge,
    judge_each,
    judge_maps,
    judge_mask,
    judge_output,
    make,
    new_cases,
    new_layer,
    put_weights,
    untouched_layer,
)
from autograder.checks.student import StudentError
from solutions.reference import multi_head_attention as reference


def scores_of(layer, x):
    """Return the scaled scores of all heads."""
    queries, keys = (
        reference.split_heads(x @ matrix, layer.n_heads)
        for matrix in (layer.weights.query, layer.weights.key)
    )
    return queries @ keys.transpose(0, 2, 1) / queries.shape[2] ** 0.5


def causal_mask(n_tokens):
    """Return the mask that hides the future."""
    return np.triu(np.ones((n_tokens, n_tokens), dtype=bool), k=1)


def random_mask(rng, n_tokens):
    """Return an asymmetric mask that hides a token from itself, and in which every row keeps a key."""
    mask = rng.random((n_tokens, n_tokens)) < 0.5
    mask[np.arange(n_tokens), rng.integers(n_tokens, size=n_tokens)] = False
    if n_tokens > 1:
        mask[:2, :2] = [[True, False], [True, False]]
    return mask


@pytest.mark.points("0.5")
def test_split_heads_gives_each_head_its_columns(student, rng):
    """The method split_heads gives head i columns i·d_k to (i+1)·d_k of every token."""
    calls = []
    for n_tokens, n_heads, d_k in ((5, 2, 3), (4, 3, 2), (3, 1, 2), (1, 2, 2)):
        x = rng.normal(size=(n_tokens, n_heads * d_k))
        calls.append((make(student, rng, n_heads, d_k).split_heads.later(x), x, n_heads))

    for call, x, n_heads in calls:
        assert_array_equal(call.result(), reference.split_heads(x, n_heads))


@pytest.mark.points(1)
def test_attention_weights_follow_the_formula(student, rng):
    """Without a mask, the weights of each head are softmax(Q Kᵀ / √d_k), row by row."""
    as_made = Case(untouched_layer(student, rng, 2, 3), rng.normal(size=(5, 6)))

    judge_each(judge_maps, [as_made, *new_cases(student, rng, ((5, 2, 3), (7, 3, 5), (37, 5, 2)))])


@pytest.mark.points(1)
def test_output_follows_from_the_weights(student, rng):
    """The values, averaged with the weights of each head, stand side by side and are multiplied by W_O."""
    judge_each(judge_output, new_cases(student, rng, ((5, 2, 3), (7, 3, 5), (37, 5, 2))))


@pytest.mark.points("0.5")
def test_causal_mask_hides_the_future(student, rng):
    """With the causal mask, a token sees itself and what comes before it, and nothing else."""
    cases = new_cases(student, rng, ((5, 2, 3), (37, 3, 2)))

    judge_each(judge_mask, [replace(case, mask=causal_mask(len(case.x))) for case in cases])


@pytest.mark.points(1)
def test_any_mask_hides_what_it_says(student, rng):
    """Whatever the mask: True hides that key (column) from that query (row), and nothing else is hidden."""
    padding = np.zeros((5, 5), dtype=bool)
    padding[:, [0, -1]] = True
    masks = {
        "With a random mask": random_mask(rng, 7),
        "With a mask that hides the first and last key": padding,
        "With a mask that hides every token from itself": np.eye(6, dtype=bool),
        "With a mask that hides the past": causal_mask(8).T.copy(),
        "With a mask that hides nothing": np.zeros((4, 4), dtype=bool),
    }
    layer = new_layer(student, rng, 2, 5)

    judge_each(
        judge_mask,
        [Case(layer, rng.normal(size=(len(mask), 10)), mask, where) for where, mask in masks.items()],
    )


@pytest.mark.points("0.5")
def test_large_scores_do_no_harm(student, rng):
    """Scores around 1000 do not overflow, and a hidden key with the largest score does not shine through."""
    layer = new_layer(student, rng, 2, 3)
    tokens = rng.normal(size=(5, 6))
    # Each token has a twin, so that two keys share a row's weight and no row is settled by its size alone.
    x = np.concatenate([tokens, tokens + 0.001 * rng.normal(size=(5, 6))])
    x *= (3000 / np.abs(scores_of(layer, x)).max()) ** 0.5
    scores = min(scores_of(layer, x), key=np.min)  # the head with the lowest score of all
    ranked = np.sort(scores, axis=1)
    better_half, all_but_worst_twins = (scores > ranked[:, [last_visible]] for last_visible in (4, 1))

    masks = (None, causal_mask(len(x)), better_half, all_but_worst_twins)
    judge_each(judge, [Case(layer, x, mask, "With scores around 1000") for mask in masks])


@pytest.mark.points("0.5")
def test_sizes_that_coincide_do_not_matter(student, rng):
    """The result is right for one token, one head or one feature, and where two sizes are equal."""
    sizes = {
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
    cases = []
    for where, case in zip(sizes, new_cases(student, rng, sizes.values()), strict=True):
        mask = random_mask(rng, len(case.x))
        cases += [replace(case, where=where), replace(case, mask=mask, where=where)]

    judge_each(judge, cases)


@pytest.mark.points("0.25")
def test_every_kind_of_array_counts_alike(student, rng):
    """Only the numbers of x matter, neither their dtype nor how they lie in memory."""
    n_tokens, n_heads, d_k = 5, 2, 4
    layer = new_layer(student, rng, n_heads, d_k)
    x = rng.normal(size=(n_tokens, n_heads * d_k))
    whole = Case(layer, rng.integers(-3, 4, size=x.shape), where="With integers")
    single = Case(layer, x.astype(np.float32), where="In float32", tolerance=FLOAT32)
    mask = random_mask(rng, n_tokens)

    judge_each(
        judge,
        [
            *(Case(layer, array, where="In another memory layout") for array in layouts(x)),
            whole,
            replace(whole, mask=mask),
            single,
            replace(single, mask=mask),
        ],
    )


@pytest.mark.points("0.5")
def test_calls_do_not_disturb_each_other(student, rng):
    """A call changes no argument, no weight and no earlier result, and depends on no earlier call."""
    n_tokens, n_heads, d_k = 5, 3, 2
    layer = new_layer(student, rng, n_heads, d_k)
    x, other = rng.normal(size=(2, n_tokens, n_heads * d_k))
    mask, other_mask = random_mask(rng, n_tokens), random_mask(rng, n_tokens)

    case = Case(layer, x, mask)

    first = given(case, partial(layer.made.forward.record, x, mask))

    assert_unchanged(x, first.args[0], name="its argument x")
    assert_unchanged(mask, first.args[1], name="its argument mask")
    for name, before, after in zip(NAMES, astuple(layer.weights), layer.made.read(*NAMES), strict=True):
        assert_unchanged(before, after, name=f"the weight {name}")
    judge(case, first.result)
    judge_each(
        judge,
        [
            Case(layer, other, where="Without a mask, after a call with one"),
            Case(layer, other, other_mask, "With another mask"),
        ],
    )
    assert_same_again(first.result, first.reread(), when="after more calls")
    judge_each(judge, [Case(layer, x, mask, "When called with the first x again")])
    new_weights = Case(
        put_weights(layer.made, rng, n_heads, d_k), x, mask, "With new weights in the same layer"
    )
    new = Case(new_layer(student, rng, n_heads, d_k), x, mask, "In another layer of the same size")
    judge_each(judge, [new_weights, new])


@pytest.mark.points("0.25")
def test_uneven_heads_are_refused(student, rng):
    """A number of heads that does not divide d_model raises an exception, at once or in forward."""
    (even,) = new_cases(student, rng, [(5, 2, 3)])
    returned = even.call()
    refused = {
        (d_model, n_heads): student.MultiHeadAttention.later(d_model, n_heads).forward.later(
            rng.normal(size=(4, d_model))
        )
        for d_model, n_heads in ((7, 2), (10, 4), (3, 5))
    }

    assert_returned(given(even, returned.result))
    for (d_model, n_heads), call in refused.items():
        assert_refused(call.result, StudentError, case=f"{n_heads} heads for {d_model} features")
