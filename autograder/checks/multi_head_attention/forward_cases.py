"""
Layers and calls of a student's class `MultiHeadAttention`, and how they are judged.

A mistake should cost the points of what it breaks. The split has a check of its
own; where it has the right numbers in other places, all else is judged by what
follows from it. The maps are judged on their own; the output by what follows
from the student's own maps; a mask by what it changes in them. Nothing follows
from numbers that are lost, zero or not finite, or from an output that stays the
same whatever x is: what a student's own numbers make right must still be work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.checks.asserts import (
    EXACT,
    FLOAT32,
    FLOAT64,
    Mismatch,
    NotJudged,
    Tolerance,
    assert_allclose,
    assert_array,
    assert_array_equal,
    assert_attention,
    assert_pair,
)
from autograder.checks.student import StudentError, StudentMissing
from solutions.reference import multi_head_attention as reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from autograder.checks.student import Later, Student

    Array = NDArray[Any]
    Rng = np.random.Generator
    Split = Callable[[Array, int], Array]
    Result = tuple[Array, Array]

NAMES = ("Wq", "Wk", "Wv", "Wo")
EMPTY = "NotImplementedError"
SPLIT_COMES_FIRST = "Not judged: forward needs your split_heads, which is wrong. Mend that first."
SPLIT_FAILS_TOO = "Your split_heads fails too: mend that as well."
ONLY_MAPS_ARE_RIGHT = (
    "The attention weights are right. Look at what follows them: values, merge, output projection."
)


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of the student's, its number of heads and the weights in it."""

    made: Later
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

    def call(self) -> Later:
        """Call the student's forward, together with the calls of other cases."""
        arguments = (self.x,) if self.mask is None else (self.x, self.mask)
        return self.layer.made.forward.later(*arguments)

    def right(self, split: Split = reference.split_heads) -> Result:
        """Return what a right forward gives, with the right split or another one."""
        return reference.forward(self.x, self.layer.weights, self.layer.n_heads, self.mask, split=split)

    def own_order(self, projected: Array, n_heads: int, tolerance: Tolerance = EXACT) -> Array:
        """Return what the student's split_heads gives, if it has the right numbers, in whatever order."""
        n_tokens, d_model = projected.shape
        shape = (n_heads, n_tokens, d_model // n_heads)
        heads = assert_array(self.layer.made.split_heads(projected), shape)
        assert_allclose(np.sort(heads, axis=None), np.sort(projected, axis=None), tolerance)
        return heads

    def own_rounding(self, projected: Array, n_heads: int) -> Array:
        """Return the same, where the numbers may be rounded to float32 too."""
        return self.own_order(projected, n_heads, FLOAT32)

    def split_rightly(self) -> None:
        """Accept a right split of the queries."""
        queries, n_heads = self.queries, self.layer.n_heads
        assert_array_equal(self.layer.made.split_heads(queries), reference.split_heads(queries, n_heads))

    def split_somehow(self) -> None:
        """Accept a split of the queries by which the rest can be judged."""
        self.own_order(self.queries, self.layer.n_heads)

    @property
    def queries(self) -> Array:
        """The projected queries of all heads, (T, d_model)."""
        return np.asarray(self.x @ self.layer.weights.query)

    def compare(self, result: object, expected: Result) -> None:
        """Accept a pair (out, attn) that is close to the expected one."""
        out, attn = assert_pair(result, names=("out", "attn"), where=self.where)
        self.compare_maps(attn, expected[1])
        try:
            self.compare_output(out, expected[0])
        except Mismatch as mismatch:
            raise Mismatch(mismatch.rationale, mismatch.hint or ONLY_MAPS_ARE_RIGHT) from None

    def compare_maps(self, attn: object, expected: Array) -> None:
        """Accept maps close to the expected ones."""
        assert_attention(attn, expected, self.mask, tolerance=self.tolerance, where=self.where)

    def compare_output(self, out: object, expected: Array) -> None:
        """Accept an output close to the expected one."""
        assert_allclose(out, expected, self.tolerance, name="out", where=self.where)


def accepts(judgement: Callable[..., object], *args: Any) -> bool:
    """Return whether a judgement lets its arguments pass."""
    try:
        judgement(*args)
    except (Mismatch, StudentError, StudentMissing):
        return False
    return True


def judge_each(judgement: Callable[[Case, Any], None], cases: Sequence[Case]) -> None:
    """Call forward in all cases, then judge each result."""
    calls = [case.call() for case in cases]
    for case, call in zip(cases, calls, strict=True):
        judgement(case, given(case, call.result))


def given(case: Case, ask: Callable[[], Any]) -> Any:
    """Return what a call of forward gives; where it raises and the split is wrong, nothing can be said."""
    try:
        return ask()
    except StudentError as error:
        if error.class_name == EMPTY or accepts(case.split_somehow):
            raise
        raise NotJudged(SPLIT_COMES_FIRST) from None


def judge(case: Case, result: object) -> None:
    """Accept a right result of forward, or what is right for a split that puts the numbers elsewhere."""
    try:
        case.compare(result, case.right())
    except Mismatch as mismatch:
        if not accepts(lambda: case.compare(result, case.right(case.own_order))):
            raise after_split(case, mismatch) from None


def judge_maps(case: Case, result: object) -> None:
    """Accept right maps, or those that are right for a split that puts the numbers elsewhere."""
    _, attn = assert_pair(result, names=("out", "attn"), where=case.where)
    try:
        case.compare_maps(attn, case.right()[1])
    except Mismatch as mismatch:
        if not accepts(lambda: case.compare_maps(attn, case.right(case.own_order)[1])):
            raise after_split(case, mismatch) from None


def after_split(case: Case, mismatch: Mismatch) -> Mismatch:
    """Return what to say of a mismatch where the split may be wrong as well, and may be the cause."""
    if accepts(case.split_rightly):
        return mismatch
    if not accepts(case.split_somehow):
        return NotJudged(SPLIT_COMES_FIRST)
    return Mismatch(mismatch.rationale, f"{SPLIT_FAILS_TOO} {mismatch.hint}".strip())


def judge_output(case: Case, result: object) -> None:
    """Accept an output that is right, or right for the student's own maps and own split."""
    out, attn = assert_pair(result, names=("out", "attn"), where=case.where)
    right_out, right_attn = case.right()
    try:
        case.compare_output(out, right_out)
    except Mismatch as mismatch:
        splits = (reference.split_heads, case.own_rounding)
        if any(accepts(follow_maps, case, out, attn, split) for split in splits):
            return
        if accepts(case.compare_maps, attn, right_attn):
            raise Mismatch(mismatch.rationale, mismatch.hint or ONLY_MAPS_ARE_RIGHT) from None
        raise after_split(case, mismatch) from None


def follow_maps(case: Case, out: object, attn: object, split: Split) -> None:
    """Accept an output that is right for these maps and this split, if they give every token something."""
    layer, n_tokens = case.layer, len(case.x)
    attn = assert_array(attn, (layer.n_heads, n_tokens, n_tokens))
    expected = assert_array(
        reference.output(attn, case.x, layer.weights, split=split), case.x.shape, name="What follows"
    )
    # Maps may be negative or not sum to one, each by a mistake of its own; but a token that gets nothing
    # from any token, or as good as nothing, would make zeros a right output.
    if any(accepts(case.compare_output, np.zeros_like(row), row) for row in expected):
        raise Mismatch("Nothing follows from maps that give a token nothing.")
    case.compare_output(out, expected)


def judge_mask(case: Case, result: object) -> None:
    """Accept a result that is right, or wrong only in what is wrong without a mask too."""
    pair = assert_pair(result, names=("out", "attn"), where=case.where)
    try:
        judge(case, pair)
    except Mismatch:
        if not accepts(follow_mask, case, pair):
            raise


def follow_mask(case: Case, result: tuple[Any, Any]) -> None:
    """Accept a mask that does its work in a layer that is wrong without one too.

    The maps must be the student's own unmasked ones with the hidden keys cut
    out; hidden tokens must not move the output, and the others must.
    """
    mask = case.mask
    assert mask is not None  # noqa: S101 - else there is nothing to follow
    (out, attn), names, shape = result, ("out", "attn"), case.right()[1].shape
    open_case = replace(case, mask=None)
    unmasked = open_case.call().result()
    if accepts(open_case.compare, unmasked, open_case.right()):
        raise Mismatch("The result is right without a mask.")
    own, masked = (
        np.where(mask, 0, assert_array(maps, shape)) for maps in (assert_pair(unmasked, names=names)[1], attn)
    )
    # Where all weight was on hidden keys, any share of the visible ones is as good as another.
    visible = np.where(own.any(axis=-1, keepdims=True), own, masked)
    case.compare_maps(attn, assert_array(visible / visible.sum(axis=-1, keepdims=True), shape))
    tokens, out = np.arange(len(mask)), assert_array(out, case.x.shape)
    query = int(np.argmax(mask.sum(axis=1)))
    moved_out = output_after_moving(case, mask[query] & (tokens != query))
    case.compare_output(moved_out[query], out[query])
    moved_out = output_after_moving(case, ~mask[query] | (tokens == query))
    if accepts(case.compare_output, moved_out[query], out[query]):
        raise Mismatch("The output does not depend on what is visible.")


def output_after_moving(case: Case, tokens: NDArray[np.bool_]) -> Array:
    """Return the student's output when these tokens are other ones."""
    moved = case.x.copy()
    moved[tokens] += 1
    out, _ = assert_pair(replace(case, x=moved).call().result(), names=("out", "attn"))
    return assert_array(out, case.x.shape)


def make(student: Student, rng: Rng, n_heads: int, d_k: int) -> Later:
    """Return a layer of the student's as it was made."""
    seed = int(rng.integers(1, 10**6))
    made: Later = student.MultiHeadAttention.later(n_heads * d_k, n_heads, seed=seed)
    return made


def new_layer(student: Student, rng: Rng, n_heads: int, d_k: int) -> Layer:
    """Return a layer of the student's with new weights from N(0, 1/d_model) put into it."""
    return put_weights(make(student, rng, n_heads, d_k), rng, n_heads, d_k)


def put_weights(made: Later, rng: Rng, n_heads: int, d_k: int) -> Layer:
    """Return a layer of the student's with new weights put into it."""
    d_model = n_heads * d_k
    matrices = rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model))
    for name, matrix in zip(NAMES, matrices, strict=True):
        setattr(made, name, matrix)
    return Layer(made, n_heads, reference.Weights(*matrices))


def untouched_layer(student: Student, rng: Rng, n_heads: int, d_k: int) -> Layer:
    """Return a layer of the student's with the weights that it was made with."""
    d_model = n_heads * d_k
    made = make(student, rng, n_heads, d_k)
    found = zip(NAMES, made.read(*NAMES), strict=True)
    matrices = (assert_array(matrix, (d_model, d_model), name=name) for name, matrix in found)
    return Layer(made, n_heads, reference.Weights(*matrices))


def new_cases(student: Student, rng: Rng, sizes: Iterable[tuple[int, int, int]]) -> list[Case]:
    """Return a case with a new layer for each (n_tokens, n_heads, d_k)."""
    return [
        Case(new_layer(student, rng, n_heads, d_k), rng.normal(size=(n_tokens, n_heads * d_k)))
        for n_tokens, n_heads, d_k in sizes
    ]
