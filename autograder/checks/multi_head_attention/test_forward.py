"""
Hidden checks of the class `MultiHeadAttention`, its `split_heads` and its `forward`.

A mistake should cost the points of what it breaks. The maps are judged on
their own; the output by what follows from the student's own maps; a mask by
what it changes in them. The later checks, on edges, want everything right.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from autograder.checks.asserts import (
    FLOAT32,
    FLOAT64,
    Mismatch,
    Tolerance,
    assert_allclose,
    assert_array,
    assert_array_equal,
    assert_attention,
    assert_pair,
)
from autograder.checks.effects import assert_refused, assert_returned, assert_same_again, assert_unchanged
from autograder.checks.layouts import layouts
from autograder.checks.student import StudentError, StudentMissing
from solutions.reference import multi_head_attention as reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = ("Wq", "Wk", "Wv", "Wo")
SPLIT_IS_WRONG = (
    "Your forward is right, but it uses your split_heads, which puts numbers in the wrong place.",
    "Mend split_heads. Which token owns row 0 of head 1, and which of its features?",
)
ONLY_MAPS_ARE_RIGHT = (
    "The attention weights are right. Look at what follows them: values, merge, output projection."
)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the student's, its number of heads and the weights in it."""

    made: Any
    n_heads: int
    weights: reference.Weights


@dataclass(frozen=True, slots=True)
class Case:
    """One call of forward, the words for it, and how exact its result must be."""

    layer: Layer
    x: NDArray[Any]
    mask: NDArray[np.bool_] | None = None
    where: str = ""
    tolerance: Tolerance = FLOAT64

    def call(self):
        """Call the student's forward, together with the calls of other cases."""
        arguments = (self.x,) if self.mask is None else (self.x, self.mask)
        return self.layer.made.forward.later(*arguments)

    def right(self, split=reference.split_heads):
        """Return what a right forward gives, with the right split or another one."""
        return reference.forward(self.x, self.layer.weights, self.layer.n_heads, self.mask, split=split)

    def own_split(self, projected, n_heads):
        """Return what the student's split_heads gives, if it has the right shape."""
        n_tokens, d_model = projected.shape
        return assert_array(self.layer.made.split_heads(projected), (n_heads, n_tokens, d_model // n_heads))

    def compare(self, result, expected):
        """Accept a pair (out, attn) that is close to the expected one."""
        out, attn = assert_pair(result, names=("out", "attn"), where=self.where)
        self.compare_maps(attn, expected[1])
        try:
            self.compare_output(out, expected[0])
        except Mismatch as mismatch:
            raise Mismatch(mismatch.rationale, mismatch.hint or ONLY_MAPS_ARE_RIGHT) from None

    def compare_maps(self, attn, expected):
        """Accept maps close to the expected ones."""
        assert_attention(attn, expected, self.mask, tolerance=self.tolerance, where=self.where)

    def compare_output(self, out, expected):
        """Accept an output close to the expected one."""
        assert_allclose(out, expected, self.tolerance, name="out", where=self.where)


def accepts(judgement, *args: Any):
    """Return whether a judgement lets its arguments pass."""
    try:
        judgement(*args)
    except (Mismatch, StudentError, StudentMissing):
        return False
    return True


def judge_each(judgement, cases):
    """Call forward in all cases, then judge each result."""
    calls = [case.call() for case in cases]
    for case, call in zip(cases, calls, strict=True):
        judgement(case, call.result())


def judge(case, result):
    """Accept a right result of forward; tell a wrong split from a wrong forward."""
    try:
        case.compare(result, case.right())
    except Mismatch:
        if accepts(lambda: case.compare(result, case.right(case.own_split))):
            raise Mismatch(*SPLIT_IS_WRONG) from None
        raise


def judge_maps(case, result):
    """Accept right maps; tell a wrong split from a wrong forward."""
    _, attn = assert_pair(result, names=("out", "attn"), where=case.where)
    try:
        case.compare_maps(attn, case.right()[1])
    except Mismatch:
        if accepts(lambda: case.compare_maps(attn, case.right(case.own_split)[1])):
            raise Mismatch(*SPLIT_IS_WRONG) from None
        raise


def judge_output(case, result):
    """Accept an output that is right, or right for the student's own maps and own split."""
    out, attn = assert_pair(result, names=("out", "attn"), where=case.where)
    right_out, right_attn = case.right()
    try:
        case.compare_output(out, right_out)
    except Mismatch as mismatch:
        splits = (reference.split_heads, case.own_split)
        if any(accepts(follow_maps, case, out, attn, split) for split in splits):
            return
        if accepts(case.compare_maps, attn, right_attn):
            raise Mismatch(mismatch.rationale, mismatch.hint or ONLY_MAPS_ARE_RIGHT) from None
        raise


def follow_maps(case, out, attn, split):
    """Accept an output that is right for these maps and this split."""
    layer, n_tokens = case.layer, len(case.x)
    attn = assert_array(attn, (layer.n_heads, n_tokens, n_tokens))
    case.compare_output(out, reference.output(attn, case.x, layer.weights, split=split))


def judge_mask(case, result):
    """Accept a result that is right, or wrong only in what is wrong without a mask too."""
    result = assert_pair(result, names=("out", "attn"), where=case.where)
    try:
        judge(case, result)
    except Mismatch:
        if not accepts(follow_mask, case, result):
            raise


def follow_mask(case, result):
    """Accept a mask that does its work in a layer that is wrong without one too.

    The maps must be the student's own unmasked ones with the hidden keys cut
    out, and hidden tokens must not move the output.
    """
    (out, attn), names, shape = result, ("out", "attn"), case.right()[1].shape
    open_case = replace(case, mask=None)
    unmasked = open_case.call().result()
    if accepts(open_case.compare, unmasked, open_case.right()):
        raise Mismatch("The result is right without a mask.")
    visible = np.where(case.mask, 0, assert_array(assert_pair(unmasked, names=names)[1], shape))
    case.compare_maps(attn, visible / visible.sum(axis=-1, keepdims=True))
    query = int(np.argmax(case.mask.sum(axis=1)))
    moved = case.x.copy()
    moved[case.mask[query] & (np.arange(len(moved)) != query)] += 1
    moved_out, _ = assert_pair(replace(case, x=moved).call().result(), names=names)
    rows = [assert_array(array, case.x.shape)[query] for array in (moved_out, out)]
    case.compare_output(*rows)


def make(student, rng, n_heads, d_k):
    """Return a layer of the student's as it was made."""
    return student.MultiHeadAttention.later(n_heads * d_k, n_heads, seed=int(rng.integers(1, 10**6)))


def new_layer(student, rng, n_heads, d_k):
    """Return a layer of the student's with new weights from N(0, 1/d_model) put into it."""
    return put_weights(make(student, rng, n_heads, d_k), rng, n_heads, d_k)


def put_weights(made, rng, n_heads, d_k):
    """Return a layer of the student's with new weights put into it."""
    d_model = n_heads * d_k
    matrices = rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model))
    for name, matrix in zip(NAMES, matrices, strict=True):
        setattr(made, name, matrix)
    return Layer(made, n_heads, reference.Weights(*matrices))


def untouched_layer(student, rng, n_heads, d_k):
    """Return a layer of the student's with the weights that it was made with."""
    d_model = n_heads * d_k
    made = make(student, rng, n_heads, d_k)
    found = zip(NAMES, made.read(*NAMES), strict=True)
    matrices = (assert_array(matrix, (d_model, d_model), name=name) for name, matrix in found)
    return Layer(made, n_heads, reference.Weights(*matrices))


def new_cases(student, rng, sizes):
    """Return a case with a new layer for each (n_tokens, n_heads, d_k)."""
    return [
        Case(new_layer(student, rng, n_heads, d_k), rng.normal(size=(n_tokens, n_heads * d_k)))
        for n_tokens, n_heads, d_k in sizes
    ]


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

    single = Case(layer, x.astype(np.float32), where="In float32", tolerance=FLOAT32)

    judge_each(
        judge,
        [
            *(Case(layer, array, where="In another memory layout") for array in layouts(x)),
            Case(layer, rng.integers(-3, 4, size=x.shape), where="With integers"),
            single,
            replace(single, mask=random_mask(rng, n_tokens)),
        ],
    )


@pytest.mark.points("0.5")
def test_calls_do_not_disturb_each_other(student, rng):
    """A call changes no argument, no weight and no earlier result, and depends on no earlier call."""
    n_tokens, n_heads, d_k = 5, 3, 2
    layer = new_layer(student, rng, n_heads, d_k)
    x, other = rng.normal(size=(2, n_tokens, n_heads * d_k))
    mask, other_mask = random_mask(rng, n_tokens), random_mask(rng, n_tokens)

    first = layer.made.forward.record(x, mask)

    assert_unchanged(x, first.args[0], name="its argument x")
    assert_unchanged(mask, first.args[1], name="its argument mask")
    for name, before, after in zip(NAMES, astuple(layer.weights), layer.made.read(*NAMES), strict=True):
        assert_unchanged(before, after, name=f"the weight {name}")
    judge(Case(layer, x, mask), first.result)
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

    assert_returned(returned.result())
    for (d_model, n_heads), call in refused.items():
        assert_refused(call.result, StudentError, case=f"{n_heads} heads for {d_model} features")
