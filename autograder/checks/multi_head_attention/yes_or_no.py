"""Questions to be answered with yes or no, asked so that their place does not tell the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograder.checks.asserts import assert_bool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from autograder.checks.student import Proxy

    Case = tuple[tuple[Any, ...], bool, str]


def judge(
    function: Proxy,
    rng: np.random.Generator,
    kinds: Sequence[Callable[[np.random.Generator], Case]],
) -> None:
    """
    Ask each kind of question once, and a drawn one again with other numbers, in a drawn order.

    In a fixed order, a list of answers would do, without a look at the numbers;
    the one asked again keeps the number of yeses from being known.
    All are asked before the first is judged, so that the answers tell one mistake
    from another.

    Parameters
    ----------
    function : Proxy
        The student's function.
    rng : numpy.random.Generator
        Draws the questions and their order.
    kinds : sequence of callable
        Each draws a question of its kind: the arguments, the right answer and
        the words for it, to follow "for".

    Raises
    ------
    Mismatch
        If an answer is wrong, or neither True nor False.
    """
    order = rng.permutation([*range(len(kinds)), rng.integers(len(kinds))])
    cases = [kinds[kind](rng) for kind in order]
    calls = [function.later(*arguments) for arguments, _, _ in cases]
    for call, (_, expected, case) in zip(calls, cases, strict=True):
        assert_bool(call.result(), expected=expected, case=case)
