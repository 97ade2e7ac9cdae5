"""
Assertions for hidden checks that tell a student what is wrong, not what is right.

Each raises `Mismatch` with a rationale (what was found) and often a hint (what
a teacher would say next). They look at the type first, then shape, kind of
numbers, nan and infinity, and last at the values, so that the first thing
wrong is the thing told. Texts hold types, shapes, counts and symptoms only:
neither an expected number nor one that the student's code returned, which
could be a hidden input.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Symptom = tuple[str, str]  # what was found, hint

EXACT = 0.0
RTOL, ATOL = 1e-6, 1e-8
"""Tolerances for float64."""
RTOL_FLOAT32, ATOL_FLOAT32 = 1e-3, 1e-4
"""Tolerances for float32."""

MAX_PERMUTED_AXES = 4


class Mismatch(AssertionError):
    """
    A student's result is not what it should be.

    Parameters
    ----------
    rationale : str
        What was found, safe to show to the student.
    hint : str
        What a teacher would say next; empty if the rationale says it all.
    """

    def __init__(self, rationale: str, hint: str = "") -> None:
        super().__init__(rationale)
        self.rationale = rationale
        self.hint = hint


# ---------------------------------------------------------------- single values


def assert_number(
    actual: object, expected: float | None = None, *, name: str = "The result", where: str = ""
) -> None:
    """
    Accept a Python or numpy number of any kind that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : float, optional
        The right number; None accepts every number.
    name : str
        What to call it, at the start of a sentence.
    where : str
        The case, such as "With one head"; put before the sentence.

    Raises
    ------
    Mismatch
        If it is no number (a bool is none), or another one.
    """
    if isinstance(actual, bool | np.bool_) or not isinstance(actual, int | float | np.number):
        raise Mismatch(_place(where, f"{name} is {_kind(actual)}, but should be a number."), _none_hint(actual))
    if expected is not None and actual != expected:
        raise Mismatch(_place(where, f"{name} is not the right number."))


def assert_integer(actual: object, expected: int, *, name: str = "The result", where: str = "") -> None:
    """
    Accept a Python or numpy integer that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : int
        The right number.
    name : str
        What to call it, at the start of a sentence.
    where : str
        The case, such as "With one head"; put before the sentence.

    Raises
    ------
    Mismatch
        If it is not an integer (a bool or 64.0 is none), or another one.
    """
    is_float = isinstance(actual, float | np.floating)
    if is_float:
        raise Mismatch(
            _place(where, f"{name} is a float, but should be an integer."),
            "The / operator always gives a float; // gives an integer.",
        )
    if isinstance(actual, bool | np.bool_) or not isinstance(actual, int | np.integer):
        raise Mismatch(_place(where, f"{name} is {_kind(actual)}, but should be an integer."), _none_hint(actual))
    if int(actual) != expected:
        raise Mismatch(_place(where, f"{name} is an integer, but not the right one."))


def assert_bool(actual: object, expected: bool, *, case: str, name: str = "The result") -> None:  # noqa: FBT001 - it is the value
    """
    Accept a Python or numpy bool that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : bool
        The right answer.
    case : str
        What was asked about, to follow "for": "heads that are all equal".
    name : str
        What to call it, at the start of a sentence.

    Raises
    ------
    Mismatch
        If it is not a bool, or the other one.
    """
    if not isinstance(actual, bool | np.bool_):
        raise Mismatch(f"{name} is {_kind(actual)}, but should be True or False.", _none_hint(actual))
    if bool(actual) != expected:
        raise Mismatch(f"{name} is {bool(actual)} for {case}.")


def assert_integers(actual: object, expected: list[int], *, name: str = "The result", where: str = "") -> None:
    """
    Accept a list, a tuple or a 1-D array of integers that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : list of int
        The right integers, in increasing order.
    name : str
        What to call it, at the start of a sentence.
    where : str
        The case, such as "With one head"; put before the sentence.

    Raises
    ------
    Mismatch
        If it is no list of integers, or holds other ones, or in another order.
    """
    if isinstance(actual, np.ndarray) and actual.ndim == 1:
        actual = list(actual)
    if not isinstance(actual, list | tuple):
        raise Mismatch(_place(where, f"{name} is {_kind(actual)}, but should be a list."), _none_hint(actual))
    for item in actual:
        if isinstance(item, bool | np.bool_) or not isinstance(item, int | np.integer):
            raise Mismatch(_place(where, f"{name} holds {_kind(item)}, but should hold integers."))
    found = [int(item) for item in actual]
    if found != expected:
        raise Mismatch(_place(where, f"{name} {_list_symptom(found, expected)}."))


def _list_symptom(found: list[int], expected: list[int]) -> str:
    """Return what is wrong with a list, to follow its name."""
    if sorted(found) == expected:
        return "holds the right numbers, but not in increasing order"
    if sorted(set(found)) == expected:
        return "holds the right numbers, but some more than once"
    missing, surplus = set(expected) - set(found), set(found) - set(expected)
    if missing and surplus:
        return "lacks numbers that belong in it and holds others that do not"
    if missing:
        return "lacks numbers that belong in it"
    return "holds numbers that do not belong in it"


# ---------------------------------------------------------------- calls


def assert_refused(call: Callable[[], object], error: type[Exception], *, case: str) -> None:
    """
    Accept only a call that raises.

    Parameters
    ----------
    call : callable
        Calls the student's code with what it should refuse.
    error : type
        The exception that stands for one raised by the student's code.
    case : str
        What should be refused, to follow "accepts": "2 heads for 7 features".

    Raises
    ------
    Mismatch
        If the call returns.
    """
    try:
        call()
    except error:
        return
    raise Mismatch(f"The code accepts {case} and raises nothing.", "Check the remainder before you divide.")


# ---------------------------------------------------------------- arrays


def assert_array(actual: object, shape: tuple[int, ...], *, name: str = "The result", where: str = "") -> Array:
    """
    Return `actual` if it is an array of real numbers with the given shape.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    shape : tuple of int
        The right shape.
    name : str
        What to call it, at the start of a sentence.
    where : str
        The case, such as "With one head"; put before the sentence.

    Returns
    -------
    ndarray
        The same array.

    Raises
    ------
    Mismatch
        If the type, the shape or the kind of the numbers is wrong.
    """
    if not isinstance(actual, np.ndarray):
        raise Mismatch(
            _place(where, f"{name} is {_kind(actual)}, but should be a NumPy array."), _none_hint(actual)
        )
    if actual.shape != shape:
        raise Mismatch(
            _place(where, f"{name} has shape {actual.shape}, but should have shape {shape}."),
            _shape_hint(actual.shape, shape),
        )
    if actual.dtype.kind not in "iuf":
        raise Mismatch(_place(where, f"{name} is an array of {_dtype_word(actual)}, but should hold real numbers."))
    return actual


def assert_array_equal(actual: object, expected: Array, *, name: str = "The result", where: str = "") -> None:
    """
    Accept an array of real numbers that equals `expected` exactly.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : ndarray
        The right numbers, all finite.
    name : str
        What to call it, at the start of a sentence.
    where : str
        The case, such as "With one head"; put before the sentence.

    Raises
    ------
    Mismatch
        With the first thing that is wrong.
    """
    assert_allclose(actual, expected, rtol=EXACT, atol=EXACT, name=name, where=where)


def assert_allclose(  # noqa: PLR0913 - tolerances and words are all by keyword
    actual: object,
    expected: Array,
    *,
    rtol: float = RTOL,
    atol: float = ATOL,
    name: str = "The result",
    where: str = "",
    symptom: Callable[[Array, Array], Symptom | None] | None = None,
) -> None:
    """
    Accept an array of real numbers close to `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : ndarray
        The right numbers, all finite.
    rtol, atol : float
        Tolerances: |actual - expected| <= atol + rtol * |expected|.
    name : str
        What to call it, at the start of a sentence.
    where : str
        The case, such as "With one head"; put before the sentence.
    symptom : callable, optional
        Given both arrays, returns what is wrong (to follow "It") and a hint,
        or None to leave it to the general symptoms.

    Raises
    ------
    Mismatch
        With the first thing that is wrong.
    """
    array = assert_array(actual, expected.shape, name=name, where=where)
    broken = int(np.count_nonzero(~np.isfinite(array)))
    if broken:
        text = f"{name} is nan or infinite in {broken} of {array.size} entries."
        raise Mismatch(_place(where, text), "Where does exp overflow, or 0 meet infinity?")
    wrong = ~np.isclose(array, expected, rtol=rtol, atol=atol)
    if wrong.any():
        found = symptom(array, expected) if symptom else None
        text, hint = found or _symptom(array, expected, wrong, exact=rtol == EXACT)
        raise Mismatch(_place(where, f"{name} {text}."), hint)


def assert_pair(actual: object, *, names: tuple[str, str], where: str = "") -> tuple[object, object]:
    """
    Return both parts of a tuple or list of two.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    names : tuple of str
        What the two parts are called.
    where : str
        The case, such as "With one head"; put before the sentence.

    Returns
    -------
    tuple
        The two parts.

    Raises
    ------
    Mismatch
        If it is something else, or not of length two.
    """
    wanted = f"should be the pair ({names[0]}, {names[1]})"
    if not isinstance(actual, tuple | list):
        raise Mismatch(_place(where, f"The result is {_kind(actual)}, but {wanted}."), _none_hint(actual))
    if len(actual) != len(names):
        raise Mismatch(_place(where, f"The result is {_kind(actual)} of length {len(actual)}, but {wanted}."))
    return actual[0], actual[1]


def assert_unchanged(before: Array, after: object, *, name: str) -> None:
    """
    Accept only an array that is as it was before a call.

    Parameters
    ----------
    before, after : ndarray
        The array before and after the call.
    name : str
        What was changed, at the end of a sentence.

    Raises
    ------
    Mismatch
        If shape, dtype or any number changed.
    """
    if not _same(before, after):
        raise Mismatch(f"The call changed {name}.", "Work on a new array: a = a * 2 makes one, a *= 2 does not.")


def assert_same_again(first: object, again: object, *, name: str = "The result", when: str) -> None:
    """
    Accept only a result that is the same when looked at again.

    Parameters
    ----------
    first, again : object
        The result then and now; arrays, numbers, or tuples and lists of them.
    name : str
        What to call it, at the start of a sentence.
    when : str
        What happened in between: "after another call".

    Raises
    ------
    Mismatch
        If they differ in anything.
    """
    if not _same(first, again):
        raise Mismatch(
            f"{name} is another one {when}.",
            "Does something survive from call to call: a buffer, a cache, a random number, a changed weight?",
        )


def _same(first: object, second: object) -> bool:
    """Return whether two results are alike to the last bit, nan included."""
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    return type(first) is type(second) and bool(first == second)


# ---------------------------------------------------------------- attention


def assert_attention(  # noqa: PLR0913 - tolerances and words are all by keyword
    actual: object,
    expected: Array,
    *,
    mask: Array | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    name: str = "attn",
    where: str = "",
) -> None:
    """
    Accept attention maps close to `expected`, and name what is wrong with others.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : ndarray of float, shape (h, T, T)
        The right maps: rows are queries, columns are keys.
    mask : ndarray of bool, shape (T, T), optional
        True hides a key from a query.
    rtol, atol : float
        Tolerances: |actual - expected| <= atol + rtol * |expected|.
    name : str
        What to call it, at the start of a sentence.
    where : str
        The case, such as "With one head"; put before the sentence.

    Raises
    ------
    Mismatch
        With the first thing that is wrong.
    """

    def symptom(array: Array, right: Array) -> Symptom | None:
        return (
            _mask_symptom(array, mask, atol)
            or _sum_symptom(array, atol)
            or _copies_symptom(array, right)
            or _sharpness_symptom(array, right)
        )

    assert_allclose(actual, expected, rtol=rtol, atol=atol, name=name, where=where, symptom=symptom)


def _mask_symptom(attn: Array, mask: Array | None, atol: float) -> Symptom | None:
    """Name weights on hidden keys, if there are any."""
    if mask is None or not mask.any():
        return None
    hidden = np.broadcast_to(mask, attn.shape)
    leaks = hidden & (np.abs(attn) > 10 * atol)
    if not leaks.any():
        return None
    count = f"gives weight to {np.count_nonzero(leaks)} of {np.count_nonzero(hidden)} hidden keys"
    if not (np.abs(attn[~hidden]) > 10 * atol).any():
        return f"{count} and none to the visible ones", "In this mask True means hidden."
    if (np.broadcast_to(mask.T, attn.shape) & (np.abs(attn) > 10 * atol)).sum() == 0:
        return f"hides the keys of the transposed mask: it {count}", "Rows of the mask are queries, columns are keys."
    if np.array_equal(mask, np.triu(np.ones_like(mask), k=1)):
        return f"{count}: a token sees the future", "Does changing the last token change row 0?"
    return count, "Hide scores before the softmax, with a value smaller than any score: -np.inf."


def _sum_symptom(attn: Array, atol: float) -> Symptom | None:
    """Name the axis whose sums are one, if it is not the last."""
    slack = max(1e-6, 10 * atol)

    def sums_to_one(axis: int) -> bool:
        return bool(np.allclose(attn.sum(axis=axis), 1, rtol=0, atol=slack))

    if sums_to_one(-1):
        return None
    ask = "Which sums are one: rows or columns? The softmax runs over the keys."
    if attn.ndim > 1 and sums_to_one(-2):
        return "has columns that sum to one, but its rows should", ask
    if attn.ndim > 2 and sums_to_one(0):  # noqa: PLR2004 - the axis before rows and columns
        return "sums to one over the heads, but each row of each head should", ask
    return "has rows that do not sum to one", "Scale and hide before the softmax; nothing may follow it."


def _copies_symptom(attn: Array, right: Array) -> Symptom | None:
    """Name maps that are all equal where they should differ."""
    if len(attn) < 2 or np.allclose(right, right[0]) or not np.allclose(attn, attn[0]):  # noqa: PLR2004 - a pair
        return None
    return "is the same for all heads", "Each head has its own columns of Wq and Wk."


def _sharpness_symptom(attn: Array, right: Array) -> Symptom | None:
    """Name maps that rank the keys rightly but too sharply or too flatly."""
    seen = (attn > 1e-12) & (right > 1e-12)  # noqa: PLR2004 - far above where exp underflows
    if not seen.any() or np.any((right > 1e-6) & ~seen):  # noqa: PLR2004
        return None
    found, wanted = (np.where(seen, np.log(np.where(seen, a, 1)), 0) for a in (attn, right))
    number = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    found, wanted = (np.where(seen, a - a.sum(axis=-1, keepdims=True) / number, 0) for a in (found, wanted))
    spread = float((wanted * wanted).sum())
    if spread < 1e-12:  # noqa: PLR2004 - one visible key a row has no sharpness
        return None
    slope = float((found * wanted).sum()) / spread
    if slope < 1e-3 or not np.allclose(found, slope * wanted, rtol=1e-4, atol=1e-4):  # noqa: PLR2004
        return None
    word = "too sharp" if slope > 1 else "too flat"
    return (
        f"ranks the keys rightly, but is {word}: the scores are off by a constant factor",
        "The dot product of d_k terms has standard deviation sqrt(d_k); divide by it once.",
    )


# ---------------------------------------------------------------- words


def _symptom(array: Array, expected: Array, wrong: Array, *, exact: bool) -> Symptom:
    """Name what is wrong with the values of an array of the right shape."""
    close = (lambda a, b: bool(np.array_equal(a, b))) if exact else (lambda a, b: bool(np.allclose(a, b)))
    axes = _other_axes(array, expected, close)
    if axes:
        return "has the right numbers, but its axes are swapped", "Write the axis names before and after each step."
    share = f"{np.count_nonzero(wrong)} of {wrong.size} entries"
    if array.size > 1 and close(np.sort(array, axis=None), np.sort(expected, axis=None)):
        return f"holds the right numbers, but {share} are in the wrong place", (
            "Reshape never moves a number. Which token and which feature should stand first?"
        )
    factor = _factor(array, expected)
    if factor is not None:
        word = "wrong in sign" if factor < 0 else "too large" if factor > 1 else "too small"
        return f"is {word} everywhere by the same factor", ""
    if not exact and np.allclose(array, expected, rtol=1e-2, atol=1e-2 * float(np.abs(expected).max())):
        return f"is close, but differs in {share}", "Is something rounded, or computed in a smaller dtype?"
    return f"differs in {share}{_where_wrong(wrong)}", ""


def _other_axes(array: Array, expected: Array, close: Callable[[Array, Array], bool]) -> tuple[int, ...] | None:
    """Return the order of axes in which `array` would be right, if there is one."""
    if not 2 <= array.ndim <= MAX_PERMUTED_AXES:  # noqa: PLR2004 - a vector has no other order
        return None
    for axes in itertools.permutations(range(array.ndim)):
        turned = array.transpose(axes)
        if turned.shape == expected.shape and close(turned, expected):
            return axes
    return None


def _factor(array: Array, expected: Array) -> float | None:
    """Return the one factor between two arrays, if there is one."""
    big = np.abs(expected) > 1e-6 * np.abs(expected).max()
    if np.count_nonzero(big) < 3:  # noqa: PLR2004 - a factor of one or two numbers says nothing
        return None
    ratios = array[big] / expected[big]
    factor = float(np.median(ratios))
    if factor == 0 or not np.allclose(array, factor * expected, rtol=1e-5, atol=0):
        return None
    return factor


def _where_wrong(wrong: Array) -> str:
    """Return along which index of the first axis an array is right, if along any."""
    if wrong.ndim < 2 or len(wrong) < 2:  # noqa: PLR2004 - nothing to tell apart
        return ""
    bad = wrong.reshape(len(wrong), -1).any(axis=1)
    right = np.flatnonzero(~bad)
    if not right.size:
        return ""
    unit = "row" if wrong.ndim == 2 else "head"  # noqa: PLR2004 - (T, ...) or (h, T, ...)
    listed = ", ".join(map(str, right[:4])) + (", …" if len(right) > 4 else "")  # noqa: PLR2004
    return f"; right in {unit} {listed}"


def _shape_hint(actual: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return what a wrong shape suggests, or an empty text."""
    if sorted(actual) == sorted(shape):
        return "These are the right axes in another order. Write their names before and after each step."
    if [n for n in actual if n != 1] == [n for n in shape if n != 1]:
        return "An axis of length 1 was dropped or added. Name the axis you drop."
    if np.prod(actual) == np.prod(shape):
        return "The number of entries is right, but they are grouped in another way."
    return ""


def _kind(value: object) -> str:
    """Return a value's type with an article, safe to show."""
    if value is None:
        return "None"
    # A handle of an object in the student's process tells the name of its class, which the student chose.
    name = str(getattr(value, "type_name", type(value).__name__))
    name = re.sub(r"\W", "", name)[:40] or "object"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _dtype_word(array: Array) -> str:
    """Return what an array holds, as one word for its kind of dtype."""
    words = {"b": "bools", "c": "complex numbers", "O": "Python objects", "U": "text", "S": "bytes"}
    return words.get(array.dtype.kind, "other things")


def _none_hint(value: object) -> str:
    """Return the usual reason of a None, or an empty text."""
    return "Is a return missing?" if value is None else ""


def _place(where: str, sentence: str) -> str:
    """Put the case before the sentence."""
    if not where:
        return sentence
    return f"{where}: {sentence}"
