"""
Pictures of what student code gives for the examples of the lesson.

Every input here stands in the released notebooks, so that nothing of a hidden
check is shown: the x of the picture of the split, with the numbers 0 to 29,
and the layer and the tokens of the heat maps.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.checks.illustrating import picture
from autograder.illustration import Kind
from solutions.reference import multi_head_attention as reference

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.checks.student import Student
    from autograder.illustration import Illustration

    Pictures = tuple[Illustration, ...]

TOKENS, FEATURES, HEADS = 5, 6, 2
X = np.arange(float(TOKENS * FEATURES)).reshape(TOKENS, FEATURES)
CAUSAL = np.triu(np.ones((TOKENS, TOKENS), dtype=bool), k=1)
HIDDEN = tuple(tuple(map(bool, row)) for row in CAUSAL)
MATRICES = ("W_Q", "W_K", "W_V", "W_O")


def split(student: Student) -> Pictures:
    """Show where `split_heads` puts the numbers 0 to 29."""
    return (_places("split_heads(x, 2)", lambda: student.split_heads(X, HEADS), _split_x()),)


def merge(student: Student) -> Pictures:
    """Show what `merge_heads` makes of the right heads."""
    return (_places("merge_heads(heads)", lambda: student.merge_heads(_split_x()), X),)


def count(student: Student) -> Pictures:
    """Show both counts for 6 features beside the four matrices; one that is right needs no picture."""
    calls = {
        "parameter_count(6, 2)": lambda: student.parameter_count(FEATURES, HEADS),
        "single_head_parameter_count(6)": lambda: student.single_head_parameter_count(FEATURES),
    }
    sizes = [[FEATURES * FEATURES] * len(MATRICES)]
    all_counts = [picture(Kind.COUNT, asked, call, sizes, parts=MATRICES) for asked, call in calls.items()]
    return tuple(one for one in all_counts if not one.is_right) or (all_counts[0],)


def forward(student: Student) -> Pictures:
    """Show the heat maps of the lesson, after the split if that is wrong; the output if only that is."""
    weights = _weights()
    made = student.MultiHeadAttention(FEATURES, HEADS, seed=20)
    for name, matrix in zip(("Wq", "Wk", "Wv", "Wo"), astuple(weights), strict=True):
        setattr(made, name, matrix)
    x = np.random.default_rng(3).normal(size=(TOKENS, FEATURES))
    pictures = [
        _places("MultiHeadAttention(6, 2).split_heads(x)", lambda: made.split_heads(X), _split_x()),
        _maps("layer.forward(x, causal_mask)", lambda: made.forward(x, CAUSAL), (x, weights), CAUSAL),
        _maps("layer.forward(x), after a call with a mask", lambda: made.forward(x), (x, weights)),
        picture(
            Kind.VALUES,
            "layer.forward(x)",
            lambda: _part(made.forward(x), 0),
            reference.forward(x, weights, HEADS)[0],
        ),
    ]
    wrong = [one for one in pictures if not one.is_right]
    # One wrong map tells what there is to see; the next would only repeat it.
    maps = [one for one in wrong if one.kind is Kind.WEIGHTS][:1]
    if maps:
        return (*(one for one in wrong if one.kind is Kind.PLACES), *maps)
    return tuple(wrong) or (pictures[1],)


PICTURES = {
    "test_split_heads": split,
    "test_merge_heads": merge,
    "test_parameter_count": count,
    "test_forward": forward,
}
"""By grade_id of a test cell, what draws its illustrations."""


def _split_x() -> reference.Array:
    return reference.split_heads(X, HEADS)


def _weights() -> reference.Weights:
    """Return the weights that the given `__init__` draws for the seed of the lesson's heat maps."""
    layer = reference.MultiHeadAttention(FEATURES, HEADS, seed=20)
    return reference.Weights(layer.Wq, layer.Wk, layer.Wv, layer.Wo)


def _places(asked: str, call: Callable[[], Any], right: reference.Array) -> Illustration:
    return picture(Kind.PLACES, asked, call, right, width=FEATURES)


def _maps(
    asked: str,
    call: Callable[[], Any],
    given: tuple[reference.Array, reference.Weights],
    mask: reference.Mask | None = None,
) -> Illustration:
    x, weights = given
    right = reference.attention_maps(x, weights, HEADS, mask)
    hidden = () if mask is None else HIDDEN
    return picture(Kind.WEIGHTS, asked, lambda: _part(call(), 1), right, mask=hidden)


def _part(pair: Any, number: int) -> Any:
    """Return one of the two results of forward, or the whole if it is no pair."""
    return pair[number] if isinstance(pair, tuple | list) and len(pair) > number else pair
