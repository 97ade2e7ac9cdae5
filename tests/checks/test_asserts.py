"""What the assertions of hidden checks accept, what they refuse, and what they say about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.checks.asserts import (
    FLOAT32,
    Mismatch,
    assert_allclose,
    assert_array_equal,
    assert_attention,
    assert_bool,
    assert_integer,
    assert_integers,
    assert_number,
    assert_pair,
)
from autograder.checks.effects import assert_refused, assert_returned, assert_same_again, assert_unchanged
from autograder.checks.layouts import layouts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

seeds = st.integers(0, 2**32 - 1)
numbers = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=1, max_dims=3, max_side=5),
    elements=st.floats(-1e6, 1e6, allow_subnormal=False),
)
anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.floats(), max_size=3),
    st.dictionaries(st.text(), st.integers(), max_size=2),
    arrays.arrays(arrays.scalar_dtypes(), arrays.array_shapes(max_dims=3, max_side=3)),
)


def told(assertion: Callable[..., object], *args: object, **kwargs: object) -> Mismatch:
    """Return the mismatch that an assertion raises."""
    with pytest.raises(Mismatch) as caught:
        assertion(*args, **kwargs)
    return caught.value


def maps(seed: int, n_heads: int = 3, n_tokens: int = 5, mask: Array | None = None) -> Array:
    """Return attention maps of random scores."""
    scores = np.random.default_rng(seed).normal(size=(n_heads, n_tokens, n_tokens))
    powers = np.exp(scores if mask is None else np.where(mask, -np.inf, scores))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def causal(n_tokens: int = 5) -> Array:
    """Return the mask that hides the future."""
    return np.triu(np.ones((n_tokens, n_tokens), dtype=bool), k=1)


@given(right=numbers)
def test_right_numbers_pass_in_any_layout_and_float_type(right: Array) -> None:
    """How an array is kept is the student's choice."""
    for array in [right, right.astype(np.longdouble), right.astype(">f8"), *layouts(right)]:
        assert_array_equal(array, right)


@given(right=numbers, data=st.data())
def test_one_number_off_by_its_last_bit_is_not_equal(right: Array, data: st.DataObject) -> None:
    """Splitting and merging compute nothing, so there is nothing to round."""
    place = data.draw(st.tuples(*(st.integers(0, size - 1) for size in right.shape)))
    nudged = right.copy()
    nudged[place] = np.nextafter(nudged[place], np.inf)

    told(assert_array_equal, nudged, right)


@given(thing=anything)
def test_whatever_a_student_returns_is_judged(thing: object) -> None:
    """No result, however odd, may break a check: it passes, or it is a mismatch."""
    right = np.arange(6.0).reshape(2, 3) + 0.125

    for assertion, expected in (
        (assert_array_equal, right),
        (assert_allclose, right),
        (assert_attention, right[None]),
        (assert_number, 0.125),
        (assert_integer, 2**70),
        (assert_integers, [2**70]),
    ):
        assert told(assertion, thing, expected).rationale


@given(right=numbers.filter(lambda array: array.size > 1 and array.shape[0] > 1))
def test_shape_is_compared_before_values(right: Array) -> None:
    """Comparing numbers alone would let broadcasting make a wrong shape right."""
    same_everywhere = np.full_like(right, 2.0)

    mismatch = told(assert_allclose, same_everywhere[:1], same_everywhere)

    assert "shape" in mismatch.rationale


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_nothing_is_close_to_what_is_not_finite(broken: float) -> None:
    """Numbers that follow from a student's own may be no numbers any more; then nothing is right."""
    right = np.array([[[0.5, broken], [0.25, 0.75]]])

    with np.errstate(all="ignore"):
        for thing in (np.nan_to_num(right), np.zeros_like(right), np.full_like(right, 1e308), right):
            for assertion in (assert_allclose, assert_attention, assert_array_equal):
                told(assertion, thing, right)


def test_the_first_thing_wrong_is_the_thing_told() -> None:
    """A shape cannot be mended before the type is, nor a value before the shape."""
    right = np.ones((2, 3))
    wrong_shape = np.full((3, 2), np.nan, dtype=complex)

    assert "a list" in told(assert_allclose, wrong_shape.tolist(), right).rationale
    assert "shape (3, 2)" in told(assert_allclose, wrong_shape, right).rationale
    assert "complex" in told(assert_allclose, wrong_shape.T, right).rationale
    assert "nan" in told(assert_allclose, wrong_shape.T.real, right).rationale
    assert "entries" in told(assert_allclose, np.array([[1, 1, 2], [1, 3, 0]]), right).rationale


@given(right=numbers)
def test_float32_has_its_own_tolerance(right: Array) -> None:
    """Single precision is right for single precision, and not for double."""
    rough = right * (1 + 5e-4)

    assert_allclose(rough, right, FLOAT32)
    if np.any(np.abs(right) > 1):
        told(assert_allclose, rough, right)


@given(seed=seeds)
def test_no_text_holds_a_number_of_either_side(seed: int) -> None:
    """A text may hold counts and sizes; a value could be an answer, or a hidden input."""
    rng = np.random.default_rng(seed)
    right, wrong = rng.normal(size=(2, 4, 3))

    mismatch = told(assert_allclose, wrong, right)

    assert not re.search(r"\d\.\d", mismatch.rationale + mismatch.hint)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda right: right.transpose(0, 2, 1), "two axes are swapped"),
        (lambda right: right[::-1], "wrong place"),
        (lambda right: 3 * right, "too large everywhere"),
        (lambda right: right / 3, "too small everywhere"),
        (lambda right: -right, "wrong in sign"),
        (lambda right: right.round(2), "close, but not equal"),
        (lambda right: np.concatenate([right[:1], right[1:] + 1]), "right in head 0"),
    ],
)
def test_wrong_numbers_are_told_by_their_symptom(change: Callable[[Array], Array], words: str) -> None:
    """The symptom points at the line to look at; a count alone does not."""
    right = np.random.default_rng(0).normal(size=(2, 3, 3)) + 2

    assert words in told(assert_allclose, change(right), right).rationale


@pytest.mark.parametrize(
    ("shape", "words"),
    [((3, 2, 5), "another order"), ((2, 3, 5, 1), "length 1"), ((6, 5), "grouped"), ((2, 3, 4), "")],
)
def test_a_wrong_shape_is_told_by_what_it_suggests(shape: tuple[int, ...], words: str) -> None:
    """Both shapes are told, and the hint says how they are related."""
    mismatch = told(assert_allclose, np.zeros(shape), np.zeros((2, 3, 5)))

    assert str(shape) in mismatch.rationale
    assert "(2, 3, 5)" in mismatch.rationale
    assert words in mismatch.hint


@given(seed=seeds, slope=st.sampled_from([0.3, 3.0]))
def test_a_wrong_scale_is_told_from_a_wrong_ranking(seed: int, slope: float) -> None:
    """Scores off by one factor rank the keys rightly; that is worth knowing."""
    right = maps(seed)
    powers = right**slope
    wrong = powers / powers.sum(axis=-1, keepdims=True)

    mismatch = told(assert_attention, wrong, right)

    assert "ranks the keys rightly" in mismatch.rationale
    assert ("best keys" in mismatch.rationale) is (slope > 1)
    assert "ranks" not in told(assert_attention, maps(seed + 1), right).rationale


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda right: right / right.sum(axis=1, keepdims=True), "columns that sum to one"),
        (lambda right: right / right.sum(axis=0, keepdims=True), "over the heads"),
        (lambda right: right * 0.9, "rows that do not sum to one"),
        (lambda right: np.broadcast_to(right.mean(axis=0), right.shape), "same for all heads"),
        (lambda right: (1 / right) / (1 / right).sum(axis=-1, keepdims=True), "largest where it should be"),
    ],
)
def test_wrong_maps_are_told_by_their_symptom(change: Callable[[Array], Array], words: str) -> None:
    """Maps can be wrong in ways of their own, and each has its question."""
    right = maps(1)
    mismatch = told(assert_attention, change(right), right)

    assert words in mismatch.rationale
    assert mismatch.hint


def test_leaks_of_a_mask_are_told_first() -> None:
    """A forgotten, turned or negated mask explains every other difference."""
    past = causal()
    right = maps(2, mask=past)

    forgotten = told(assert_attention, maps(2), right, past)
    negated = told(assert_attention, maps(2, mask=~past & ~np.eye(5, dtype=bool)), right, past)
    turned = told(assert_attention, maps(3, mask=past.T), right, past)
    only_hidden = np.where(past, 0.25, 0.0) + np.zeros((3, 1, 1))

    assert "sees the future" in forgotten.rationale
    assert "30 of 30 hidden keys" in forgotten.rationale
    assert "transposed mask" in turned.rationale
    assert "hidden keys" in negated.rationale
    assert "none to the visible" in told(assert_attention, only_hidden, right, past).rationale


@given(value=st.integers())
def test_an_integer_may_come_from_python_or_numpy(value: int) -> None:
    """Both count; a float that happens to be whole does not, and neither does a bool."""
    assert_integer(value, value)
    if abs(value) < 2**62:
        assert_integer(np.int64(value), value)
    assert "float" in told(assert_integer, float(min(value, 2**60)), value).rationale
    assert "bool" in told(assert_integer, bool(value), int(bool(value))).rationale


@given(actual=st.integers(), expected=st.integers())
def test_a_wrong_integer_is_told_by_its_side_only(actual: int, expected: int) -> None:
    """Too large or too small helps; how much would be the answer."""
    if actual == expected:
        return
    text = told(assert_integer, actual, expected).rationale

    assert text == f"The result is too {'large' if actual > expected else 'small'}."


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_bool_may_come_from_python_or_numpy(answer: object) -> None:
    """Comparing arrays gives numpy's bools, and they are as good."""
    assert_bool(answer, expected=True, case="two equal heads")
    assert "two equal heads" in told(assert_bool, answer, expected=False, case="two equal heads").rationale


@pytest.mark.parametrize("answer", [1, 1.0, "True", np.array([True]), None])
def test_only_a_bool_is_a_bool(answer: object) -> None:
    """What merely counts as true would hide a forgotten comparison."""
    told(assert_bool, answer, expected=True, case="")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([2, 1, 3], "not in increasing order"),
        ([1, 2, 2, 3], "more than once"),
        ([1, 2], "lacks numbers"),
        ([1, 2, 3, 4], "do not belong"),
        ([0, 1, 2], "lacks numbers that belong in it, and holds others"),
        ([1.0, 2.0, 3.0], "a float"),
        ({1, 2, 3}, "a set"),
        (None, "None"),
    ],
)
def test_a_wrong_list_is_told_by_its_symptom(answer: object, words: str) -> None:
    """Order, repeats, missing and surplus numbers are different mistakes."""
    assert words in told(assert_integers, answer, [1, 2, 3]).rationale


@pytest.mark.parametrize("answer", [[1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), [np.int64(1), 2, 3]])
def test_a_right_list_may_be_any_sequence(answer: object) -> None:
    """The numbers are asked for, not their container."""
    assert_integers(answer, [1, 2, 3])


def test_a_pair_is_a_tuple_or_list_of_two() -> None:
    """An array of length two would also unpack, and is a mistake."""
    assert assert_pair((1, 2), names=("out", "attn")) == (1, 2)
    assert assert_pair([1, 2], names=("out", "attn")) == (1, 2)
    for wrong in (np.zeros((2, 3)), (1, 2, 3), {"out": 1, "attn": 2}, None):
        assert "(out, attn)" in told(assert_pair, wrong, names=("out", "attn")).rationale


def test_a_class_name_of_the_student_cannot_carry_text() -> None:
    """The name of a student's class reaches the feedback, so it must stay a name."""

    class Handle:
        type_name = "<b>full marks</b> " * 20

    text = told(assert_integer, Handle(), 1).rationale

    assert "<" not in text
    assert len(text) < 100


def test_refusal_means_the_given_exception() -> None:
    """A call that returns is a mismatch; any other exception is somebody else's affair."""

    def refuse() -> None:
        raise KeyError

    def stop() -> None:
        raise SystemExit

    assert_refused(refuse, KeyError, case="2 heads for 7 features")
    assert (
        "2 heads for 7 features"
        in told(assert_refused, int, KeyError, case="2 heads for 7 features").rationale
    )
    with pytest.raises(SystemExit):
        assert_refused(stop, KeyError, case="")


def test_only_none_counts_as_nothing_returned() -> None:
    """Whether a result is right is for another check to say."""
    nothings: tuple[object, ...] = (0, False, np.zeros((0, 3)), [], np.nan)
    for thing in nothings:
        assert_returned(thing)
    assert told(assert_returned, None).hint


@given(array=numbers)
def test_an_array_is_unchanged_if_nothing_of_it_changed(array: Array) -> None:
    """Values, shape and dtype all belong to an argument."""
    assert_unchanged(array, array.copy(), name="its argument x")
    for after in (array + 1e9, array[None], array.astype(np.float32), array.tolist()):
        assert "x" in told(assert_unchanged, array, after, name="its argument x").rationale


@given(array=numbers)
def test_a_result_is_the_same_if_all_its_parts_are(array: Array) -> None:
    """Nan is the same as itself: the question here is whether something moved."""
    broken = np.where(array > 0, np.nan, array)

    assert_same_again((array, broken), (array.copy(), broken.copy()), when="after another call")
    for again in ((array, broken, 1), (array, array + 1e9), [array], None):
        told(assert_same_again, (array, broken), again, when="after another call")


@given(array=numbers.filter(lambda array: array.ndim > 1 and min(array.shape) > 1))
def test_layouts_differ_in_memory_only(array: Array) -> None:
    """They must be what they claim, or the checks of layouts check nothing."""
    fortran, strided, read_only = layouts(array)

    for made in (fortran, strided, read_only):
        np.testing.assert_array_equal(made, array)
        assert not np.shares_memory(made, array)
    assert fortran.flags.f_contiguous
    assert not fortran.flags.c_contiguous
    assert not strided.flags.forc
    assert not read_only.flags.writeable
