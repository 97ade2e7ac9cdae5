"""Assertions on what a call does apart from its result: return, refuse, leave other things alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.checks.asserts import Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]


def assert_returned(actual: object, *, name: str = "The result") -> None:
    """
    Accept everything but None.

    Parameters
    ----------
    actual : object
        What the student's code gave.
    name : str
        What to call it.

    Raises
    ------
    Mismatch
        If it is None.
    """
    if actual is None:
        raise Mismatch(f"{name} is None.", "Is a return missing?")


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
    raise Mismatch(f"Your code accepts {case} and raises no error.", "Check the remainder before you divide.")


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
        raise Mismatch(f"The call changed {name}.", "a *= 2 changes the array a; a = a * 2 makes a new one.")


def assert_same_again(first: object, again: object, *, when: str) -> None:
    """
    Accept only a result that is still the same when looked at again.

    Parameters
    ----------
    first, again : object
        The result then and now: arrays, or tuples and lists of them.
    when : str
        What happened in between: "after another call".

    Raises
    ------
    Mismatch
        If they differ in anything.
    """
    if not _same(first, again):
        raise Mismatch(
            f"The first result is no longer the same {when}.",
            "Do all calls write into one and the same array?",
        )


def _same(first: object, second: object) -> bool:
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
    return type(first) is type(second) and bool(first == second)
