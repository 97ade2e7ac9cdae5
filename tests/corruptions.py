"""Right solutions with one random fault that has nothing to do with any known mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Spoil = Callable[[Array, np.random.Generator], Array]

GRADED = {
    "test_head_dim": ["head_dim"],
    "test_parameter_count": ["parameter_count", "single_head_parameter_count"],
    "test_worked_example": ["d_k", "n_parameters", "n_parameters_single_head"],
    "test_split_heads": ["split_heads"],
    "test_merge_heads": ["merge_heads"],
    "test_tokens_in_naive_head": ["tokens_in_naive_head"],
    "test_forward": ["MultiHeadAttention"],
    "test_roundtrip_is_exact": ["roundtrip_is_exact"],
    "test_heads_differ": ["heads_differ"],
    "test_softmax": ["softmax"],
}
"""The names that each test cell asks for."""


def _one_wrong_number(array: Array, rng: np.random.Generator) -> Array:
    array.flat[rng.integers(array.size)] += (
        rng.normal() * 3 if array.dtype.kind == "f" else 1 + rng.integers(9)
    )
    return array


def _one_scaled_number(array: Array, rng: np.random.Generator) -> Array:
    array.flat[rng.integers(array.size)] *= 1 + rng.integers(2, 9)
    return array


def _noise(array: Array, rng: np.random.Generator) -> Array:
    return array + 0.01 * rng.normal(size=array.shape)


def _dropped_row(array: Array, rng: np.random.Generator) -> Array:
    axis = int(rng.integers(array.ndim))
    return np.delete(array, rng.integers(array.shape[axis]), axis=axis)


def _two_numbers_swapped(array: Array, rng: np.random.Generator) -> Array:
    places = rng.integers(array.size, size=2)
    array.flat[places] = array.flat[places[::-1]]
    return array


def _one_row_zero(array: Array, rng: np.random.Generator) -> Array:
    array[..., rng.integers(array.shape[-2]), :] = 0
    return array


SPOILS: dict[str, Spoil] = {
    spoil.__name__.strip("_"): spoil
    for spoil in (
        _one_wrong_number,
        _one_scaled_number,
        _noise,
        _dropped_row,
        _two_numbers_swapped,
        _one_row_zero,
    )
}
"""Faults of an array."""


def spoiled(result: Any, kind: str, rng: np.random.Generator) -> Any:
    """
    Return a right result with one fault in it.

    Parameters
    ----------
    result : object
        An array, a number, a list of numbers, a yes or no, or a tuple of these.
    kind : str
        One of SPOILS; what is no array gets another number.
    rng : numpy Generator
        Chooses where and how much.

    Returns
    -------
    object
        A new object of the same kind.
    """
    if isinstance(result, tuple):
        where = int(rng.integers(len(result)))
        return tuple(
            spoiled(part, kind, rng) if index == where else part for index, part in enumerate(result)
        )
    if isinstance(result, np.ndarray) and result.ndim > 1:
        return SPOILS[kind](np.array(result), rng)
    if isinstance(result, (list, np.ndarray)):
        numbers = list(result)
        numbers[int(rng.integers(len(numbers)))] += int(rng.integers(1, 9))
        return numbers
    if isinstance(result, (bool, np.bool_)):
        return result if rng.random() < 0.75 else not result
    return result + int(rng.integers(1, 9))


def corrupted(names: dict[str, Any], target: str, kind: str, seed: int) -> dict[str, Any]:
    """
    Return a solution's names, one of them at fault.

    Parameters
    ----------
    names : dict
        The names of a right solution; left alone.
    target : str
        The name at fault.
    kind : str
        One of SPOILS.
    seed : int
        Chooses where and how much.

    Returns
    -------
    dict
        The names, with a function whose results are spoiled, a class whose
        `forward` or `split_heads` is such a function, or another number.
    """
    rng = np.random.default_rng(seed)

    def faulty(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: spoiled(function(*args, **kwargs), kind, rng)

    right = names[target]
    if isinstance(right, type):
        method = ("forward", "split_heads")[seed % 4 == 0]
        wrong: Any = type(target, (right,), {method: faulty(getattr(right, method))})
    else:
        wrong = faulty(right) if callable(right) else spoiled(right, kind, rng)
    return names | {target: wrong}
