"""
What wrong numbers look like, in words that do not say the right ones.

Each function takes a student's array and the right one, of the same shape and
finite, and returns a symptom: what was found, to follow the array's name, and
a hint, which may be empty.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Symptom = tuple[str, str]

NOTICEABLE = 1e-6
"""A weight or a share that is not just rounding."""
MOST_AXES = 4
"""Arrays with more axes are not searched for a swap of them."""


def of_values(array: Array, right: Array, wrong: NDArray[np.bool_]) -> Symptom:
    """
    Name what is wrong with an array of numbers.

    Parameters
    ----------
    array, right : ndarray
        The student's numbers and the right ones.
    wrong : ndarray of bool
        Where they differ; True somewhere.

    Returns
    -------
    tuple of str
        What was found, and a hint.
    """
    share = f"{np.count_nonzero(wrong)} of {wrong.size} entries"
    return (
        _swapped_axes(array, right)
        or _misplaced(array, right, share)
        or _one_factor(array, right)
        or _imprecise(array, right, share)
        or (f"differs in {share}{_where_right(wrong)}", "")
    )


def of_attention(
    attn: Array, right: Array, wrong: NDArray[np.bool_], mask: NDArray[np.bool_] | None
) -> Symptom:
    """
    Name what is wrong with attention maps.

    Parameters
    ----------
    attn, right : ndarray, shape (h, T, T)
        The student's weights and the right ones; rows are queries.
    wrong : ndarray of bool, shape (h, T, T)
        Where they differ; True somewhere.
    mask : ndarray of bool, shape (T, T), or None
        True hides a key from a query.

    Returns
    -------
    tuple of str
        What was found, and a hint.
    """
    return (
        _swapped_axes(attn, right)
        or _visible_hidden_keys(attn, mask)
        or _wrong_sums(attn)
        or _copied_heads(attn, right)
        or _imprecise(attn, right, f"{np.count_nonzero(wrong)} of {wrong.size} entries")
        or _wrong_scale(attn, right)
        or of_values(attn, right, wrong)
    )


def of_shape(actual: tuple[int, ...], right: tuple[int, ...]) -> str:
    """
    Return what a wrong shape suggests.

    Parameters
    ----------
    actual, right : tuple of int
        The student's shape and the right one.

    Returns
    -------
    str
        A hint, which may be empty.
    """
    if sorted(actual) == sorted(right):
        return "These are the right axes in another order. Write their names before and after each step."
    if [size for size in actual if size != 1] == [size for size in right if size != 1]:
        return "An axis of length 1 was dropped or added. Name the axis you drop."
    if np.prod(actual) == np.prod(right):
        return "The number of entries is right, but they are grouped in another way."
    return ""


def of_list(found: list[int], right: list[int]) -> str:
    """
    Name what is wrong with a list of integers.

    Parameters
    ----------
    found, right : list of int
        The student's list and the right one, in increasing order.

    Returns
    -------
    str
        What was found, to follow "The list".
    """
    missing, surplus = set(right) - set(found), set(found) - set(right)
    if missing and surplus:
        return "lacks numbers that belong in it, and holds others that do not"
    if missing:
        return "lacks numbers that belong in it"
    if surplus:
        return "holds numbers that do not belong in it"
    if len(found) > len(right):
        return "holds the right numbers, but some more than once"
    return "holds the right numbers, but not in increasing order"


def of_heads(rights: list[tuple[int, bool]]) -> str:
    """
    Return what it suggests that results are right or wrong with so many heads.

    Parameters
    ----------
    rights : list of tuple
        For each result the number of heads, and whether it is right.

    Returns
    -------
    str
        A hint if only results with several heads are wrong, else nothing.
    """
    single = [is_right for n_heads, is_right in rights if n_heads == 1]
    several = [is_right for n_heads, is_right in rights if n_heads > 1]
    # A single token, for example, may come out right by whatever way.
    if not single or not all(single) or several.count(False) <= max(1, several.count(True)):
        return ""
    return "With one head your result is right, with several it is not: which of them owns which columns?"


_OF_EXCEPTIONS = {
    "AttributeError": "Some object lacks what you ask of it. Is the name spelt right, and set in __init__?",
    "AxisError": "An axis is named that the array does not have. How many axes are there at this step?",
    "IndexError": "An index is outside of an array. Do the loops run over the right axis, from 0?",
    "KeyError": "A key is asked for that is not there.",
    "LinAlgError": "A matrix does not fit what is done with it.",
    "NameError": "A name is used that is not defined. Does it come from another notebook, or a deleted cell?",
    "RecursionError": "A function calls itself without end.",
    "TypeError": "Something is of another kind than you think. Do arguments and what is called fit together?",
    "UnboundLocalError": "A variable is used before it is set. Is it set in each branch?",
    "ValueError": "Often shapes do not fit. Write down the shape after each step, with sizes all different.",
    "ZeroDivisionError": "Something is divided by zero.",
}


def of_exception(class_name: str) -> str:
    """
    Return what an exception suggests.

    Parameters
    ----------
    class_name : str
        Its class.

    Returns
    -------
    str
        A hint, which may be empty.
    """
    return _OF_EXCEPTIONS.get(class_name, "")


def _alike(array: Array, other: Array) -> bool:
    return bool(np.allclose(array, other, rtol=1e-6, atol=1e-8))


def _swapped_axes(array: Array, right: Array) -> Symptom | None:
    if not 2 <= array.ndim <= MOST_AXES:  # noqa: PLR2004 - one axis has no other order
        return None
    for axes in itertools.permutations(range(array.ndim)):
        turned = array.transpose(axes)
        if axes != tuple(range(array.ndim)) and turned.shape == right.shape and _alike(turned, right):
            return (
                "has the right numbers, but two axes are swapped",
                "Which axis is which, before and after each step?",
            )
    return None


def _misplaced(array: Array, right: Array, share: str) -> Symptom | None:
    if (
        array.size == 1
        or _alike(array, right)
        or not _alike(np.sort(array, axis=None), np.sort(right, axis=None))
    ):
        return None
    return (
        f"holds the right numbers, but {share} are in the wrong place",
        "Reshape never moves a number. Which token and which feature should stand where?",
    )


def _one_factor(array: Array, right: Array) -> Symptom | None:
    large = np.abs(right) > NOTICEABLE * np.abs(right).max()
    if np.count_nonzero(large) < 3:  # noqa: PLR2004 - a factor between two numbers says nothing
        return None
    factor = float(np.median(array[large] / right[large]))
    # A factor close to one is loss of precision, which has its own symptom.
    if abs(factor) < NOTICEABLE or abs(factor - 1) < 1e-2:  # noqa: PLR2004
        return None
    if not np.allclose(array, factor * right, rtol=1e-5, atol=1e-9):
        return None
    word = "wrong in sign" if factor < 0 else "too large" if factor > 1 else "too small"
    return f"is {word} everywhere, by one and the same factor", ""


def _imprecise(array: Array, right: Array, share: str) -> Symptom | None:
    if not np.allclose(array, right, rtol=1e-2, atol=1e-2 * float(np.abs(right).max())):
        return None
    return f"is close, but not equal, in {share}", "Is something rounded, or kept in a smaller dtype?"


def _where_right(wrong: NDArray[np.bool_]) -> str:
    if wrong.ndim == 1:
        return ""
    rows = np.flatnonzero(~wrong.reshape(len(wrong), -1).any(axis=1))
    if not rows.size:
        return ""
    unit = "row" if wrong.ndim == 2 else "head"  # noqa: PLR2004 - (T, d_model), or heads first
    return f"; right in {unit} {', '.join(map(str, rows[:4]))}{' and more' if rows.size > 4 else ''}"  # noqa: PLR2004


def _visible_hidden_keys(attn: Array, mask: NDArray[np.bool_] | None) -> Symptom | None:
    if mask is None:
        return None
    weighty = np.abs(attn) > NOTICEABLE
    hidden = np.broadcast_to(mask, attn.shape)
    leaks = np.count_nonzero(weighty & hidden)
    if not leaks:
        return None
    found = f"gives weight to {leaks} of {np.count_nonzero(hidden)} hidden keys"
    if not (weighty & ~hidden).any():
        return f"{found}, and none to the visible ones", "In this mask True means hidden."
    if not (weighty & mask.T).any():
        return (
            f"{found}, but none where the transposed mask hides",
            "Rows of the mask are queries, columns are keys.",
        )
    if np.array_equal(mask, np.triu(np.ones_like(mask), k=1)):
        return f"{found}: a token sees the future", "Does changing the last token change the first row?"
    return found, "Before the softmax, a hidden score must be far smaller than any real one: -np.inf."


def _wrong_sums(attn: Array) -> Symptom | None:
    def are_one(axis: int) -> bool:
        return bool(np.allclose(attn.sum(axis=axis), 1, rtol=0, atol=1e-3))

    if are_one(-1):
        return None
    ask = "Which sums are one? The softmax runs over the keys, along each row."
    if are_one(-2):
        return "has columns that sum to one, but its rows should", ask
    if are_one(0):
        return "sums to one over the heads, but each row of each head should", ask
    return (
        "has rows that do not sum to one",
        "Scale and hide before the softmax; nothing may change its result.",
    )


def _copied_heads(attn: Array, right: Array) -> Symptom | None:
    if len(attn) == 1 or np.allclose(right, right[0]) or not np.allclose(attn, attn[0]):
        return None
    return "is the same for all heads", "Each head has its own columns of the queries and keys."


def _wrong_scale(attn: Array, right: Array) -> Symptom | None:
    """Compare logarithms: a factor on the scores is a factor on their differences within a row."""
    seen = (attn > 1e-12) & (right > 1e-12)  # noqa: PLR2004 - far above where exp underflows
    if np.any((right > NOTICEABLE) & ~seen):
        return None
    number = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    found, wanted = (np.log(np.where(seen, array, 1)) for array in (attn, right))
    found, wanted = (np.where(seen, a - a.sum(axis=-1, keepdims=True) / number, 0) for a in (found, wanted))
    spread = float((wanted * wanted).sum())
    if spread < NOTICEABLE:
        return None
    factor = float((found * wanted).sum()) / spread
    if abs(factor) < NOTICEABLE or not np.allclose(found, factor * wanted, rtol=1e-4, atol=1e-4):
        return None
    if factor < 0:
        return "is largest where it should be smallest", "A larger score means a larger weight."
    word = "too much on the best keys" if factor > 1 else "too evenly over the keys"
    return (
        f"ranks the keys rightly, but spreads its weight {word}: all scores are off by one factor",
        "A dot product of d_k terms has standard deviation √d_k; divide by that, once.",
    )
