"""
Assertions for hidden checks that tell a student what is wrong, not what is right.

Each raises `Mismatch` with a rationale (what was found) and often a hint (what
a teacher would say next). They look at the type first, then at shape, kind of
numbers, nan and infinity, and last at the values, so that the first thing
wrong is the thing told. Texts hold types, shapes, counts and symptoms only:
neither an expected number nor one that the student's code returned, which
could be a hidden input.

``name`` is what a result is called, at the start of a sentence; ``where`` is
the case, such as "With one head", put before the sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.checks import symptoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

KINDS_OF_REAL_NUMBERS = "iuf"


class Mismatch(AssertionError):  # noqa: N818 - a finding, not an error of ours
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


class NotJudged(Mismatch):
    """Nothing can be said of a result, because what it builds on is wrong; the rationale names that."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """
    How far a number may be off: at most atol + rtol * |right number|.

    Parameters
    ----------
    rtol, atol : float
        The relative and the absolute part.
    """

    rtol: float
    atol: float


EXACT = Tolerance(0, 0)
FLOAT64 = Tolerance(1e-6, 1e-8)
FLOAT32 = Tolerance(1e-3, 1e-4)


def is_number(value: object) -> bool:
    """
    Return whether a value is a real Python or numpy number; a bool is none.

    Parameters
    ----------
    value : object
        What the student's code gave.

    Returns
    -------
    bool
        True for integers and floats.
    """
    # numpy derives its durations from its integers.
    is_real = isinstance(value, int | float | np.integer | np.floating)
    return is_real and not isinstance(value, bool | np.timedelta64)


def assert_number(actual: Any, expected: float, *, name: str = "The result") -> None:
    """
    Accept a Python or numpy number of any kind that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : float
        The right number.
    name : str
        What to call it.

    Raises
    ------
    Mismatch
        If it is no number (a bool is none), or another one.
    """
    if not is_number(actual):
        raise Mismatch(f"{name} is {_kind(actual)}, but should be a number.", _none_hint(actual))
    if actual != expected:
        if isinstance(actual, float | np.floating) and not np.isfinite(actual):
            raise Mismatch(f"{name} is not finite.")
        raise Mismatch(f"{name} is too {'large' if actual > expected else 'small'}.")


def assert_integer(actual: object, expected: int, *, name: str = "The result") -> None:
    """
    Accept a Python or numpy integer that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : int
        The right number.
    name : str
        What to call it.

    Raises
    ------
    Mismatch
        If it is not an integer (neither a bool nor 64.0 is one), or another one.
    """
    if isinstance(actual, float | np.floating):
        raise Mismatch(
            f"{name} is a float, but should be an integer.",
            "The operator / always gives a float, // does not.",
        )
    if not is_number(actual):
        raise Mismatch(f"{name} is {_kind(actual)}, but should be an integer.", _none_hint(actual))
    assert_number(actual, expected, name=name)


def assert_bool(actual: object, *, expected: bool, case: str) -> None:
    """
    Accept a Python or numpy bool that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : bool
        The right answer.
    case : str
        What was asked about, to follow "for": "two equal heads".

    Raises
    ------
    Mismatch
        If it is not a bool, or the other one.
    """
    if not isinstance(actual, bool | np.bool_):
        raise Mismatch(f"The result is {_kind(actual)}, but should be True or False.", _none_hint(actual))
    if bool(actual) is not expected:
        raise Mismatch(f"The result is {bool(actual)} for {case}.")


def assert_integers(actual: object, expected: list[int], *, where: str = "") -> None:
    """
    Accept a list, a tuple or a 1-D array of integers that equals `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : list of int
        The right integers, in increasing order.
    where : str
        The case.

    Raises
    ------
    Mismatch
        If it is no list of integers, or holds other ones, or in another order.
    """
    if isinstance(actual, np.ndarray) and actual.ndim == 1:
        actual = list(actual)
    if not isinstance(actual, list | tuple):
        raise Mismatch(
            _say(where, f"The result is {_kind(actual)}, but should be a list."), _none_hint(actual)
        )
    for item in actual:
        if not is_number(item) or isinstance(item, float | np.floating):
            raise Mismatch(_say(where, f"The list holds {_kind(item)}, but should hold integers."))
    found = [int(item) for item in actual]
    if found != expected:
        raise Mismatch(_say(where, f"The list {symptoms.of_list(found, expected)}."))


def assert_array(
    actual: object, shape: tuple[int, ...], *, name: str = "The result", where: str = ""
) -> Array:
    """
    Return `actual` if it is an array of finite real numbers with the given shape.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    shape : tuple of int
        The right shape.
    name : str
        What to call it.
    where : str
        The case.

    Returns
    -------
    ndarray
        The same array.

    Raises
    ------
    Mismatch
        If the type, the shape, the kind of the numbers or one of them is wrong.
    """
    if not isinstance(actual, np.ndarray):
        text = f"{name} is {_kind(actual)}, but should be a NumPy array."
        raise Mismatch(_say(where, text), _none_hint(actual))
    if actual.shape != shape:
        text = f"{name} has shape {actual.shape}, but should have shape {shape}."
        raise Mismatch(_say(where, text), symptoms.of_shape(actual.shape, shape))
    if actual.dtype.kind not in KINDS_OF_REAL_NUMBERS:
        raise Mismatch(
            _say(where, f"{name} is an array of dtype {actual.dtype}, but should hold real numbers.")
        )
    broken = np.count_nonzero(~np.isfinite(actual))
    if broken:
        text = f"{name} is nan or infinite in {broken} of {actual.size} entries."
        raise Mismatch(_say(where, text), "Where can exp overflow, or 0 meet infinity?")
    return actual


def assert_allclose(
    actual: object,
    expected: Array,
    tolerance: Tolerance = FLOAT64,
    *,
    name: str = "The result",
    where: str = "",
) -> None:
    """
    Accept an array of real numbers close to `expected`.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : ndarray
        The right numbers, all finite.
    tolerance : Tolerance
        How close.
    name : str
        What to call it.
    where : str
        The case.

    Raises
    ------
    Mismatch
        With the first thing that is wrong.
    """
    array = assert_array(actual, expected.shape, name=name, where=where)
    wrong = _wrong(array, expected, tolerance)
    if wrong.any():
        found, hint = symptoms.of_values(array, expected, wrong)
        raise Mismatch(_say(where, f"{name} {found}."), hint)


def assert_array_equal(actual: object, expected: Array, *, name: str = "The result", where: str = "") -> None:
    """
    Accept an array of real numbers that equals `expected` exactly, whatever their dtype.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    expected : ndarray
        The right numbers, all finite.
    name : str
        What to call it.
    where : str
        The case.

    Raises
    ------
    Mismatch
        With the first thing that is wrong.
    """
    assert_allclose(actual, expected, EXACT, name=name, where=where)


def assert_attention(
    actual: object,
    expected: Array,
    mask: NDArray[np.bool_] | None = None,
    *,
    tolerance: Tolerance = FLOAT64,
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
    tolerance : Tolerance
        How close.
    where : str
        The case.

    Raises
    ------
    Mismatch
        With the first thing that is wrong.
    """
    attn = assert_array(actual, expected.shape, name="attn", where=where)
    wrong = _wrong(attn, expected, tolerance)
    if wrong.any():
        found, hint = symptoms.of_attention(attn, expected, wrong, mask)
        raise Mismatch(_say(where, f"attn {found}."), hint)


def assert_pair(actual: object, *, names: tuple[str, str], where: str = "") -> tuple[Any, Any]:
    """
    Return both parts of a tuple or list of two.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    names : tuple of str
        What the two parts are called.
    where : str
        The case.

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
        raise Mismatch(_say(where, f"The result is {_kind(actual)}, but {wanted}."), _none_hint(actual))
    if len(actual) != len(names):
        raise Mismatch(_say(where, f"The result has {len(actual)} parts, but {wanted}."))
    return actual[0], actual[1]


def _wrong(array: Array, expected: Array, tolerance: Tolerance) -> NDArray[np.bool_]:
    if tolerance == EXACT:
        return np.asarray(array != expected)
    # What np.isclose does with finite numbers, in a fifth of the time. In float64 nothing wraps.
    distance = np.abs(np.subtract(array, expected, dtype=np.result_type(array, expected, np.float64)))
    # Nan is neither near nor far; all finite numbers are within an infinite tolerance, and none is close.
    size = np.abs(np.asarray(expected, dtype=np.result_type(expected, np.float64)))
    is_close = distance <= tolerance.atol + tolerance.rtol * size
    return np.asarray(~(is_close & np.isfinite(expected)))


def _kind(value: object) -> str:
    """Return a value's type with an article, safe to show."""
    if value is None:
        return "None"
    # A handle of an object in the student's process tells the name of its class, which the student chose.
    name = str(getattr(value, "type_name", type(value).__name__))
    name = re.sub(r"\W", "", name)[:40] or "object"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _none_hint(value: object) -> str:
    return "Is a return missing?" if value is None else ""


def _say(where: str, sentence: str) -> str:
    return f"{where}: {sentence}" if where else sentence
