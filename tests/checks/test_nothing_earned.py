"""The hidden checks: what does no work earns nothing, however well it fits the rules for carried mistakes."""

from __future__ import annotations

from itertools import count, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from graded_cells import RIGHT, Judge

from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.results import CheckResult

    Array = np.ndarray[Any, Any]
    Answer = Callable[[Array, int, Array | None], tuple[Any, Any]]

STUDENTS = [str(number).encode() for number in range(20)]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Return a judge of solutions."""
    with Judge(b"nothing") as one:
        yield one


def passed(results: list[CheckResult]) -> set[str]:
    """Return the checks that were passed."""
    return {result.name for result in results if result.outcome is Outcome.PASSED}


def layer(forward: Answer, split: Callable[[Array, int], Any]) -> dict[str, Any]:
    """Return a layer that looks like one, with these two answers."""

    class MultiHeadAttention:
        def __init__(self, d_model: int, n_heads: int, seed: int = 0) -> None:  # noqa: ARG002 - as asked for
            self.h = n_heads
            self.Wq = self.Wk = self.Wv = self.Wo = np.zeros((d_model, d_model))

        def split_heads(self, x: Array) -> Any:
            return split(x, self.h)

        def forward(self, x: Array, mask: Array | None = None) -> Any:
            return forward(x, self.h, mask)

    return {"MultiHeadAttention": MultiHeadAttention}


def right_split(x: Array, n_heads: int) -> Array:
    """Return the heads as they should be."""
    return x.reshape(len(x), n_heads, -1).transpose(1, 0, 2)


def filled_split(number: float) -> Callable[[Array, int], Array]:
    """Return a split that gives one number only."""
    return lambda x, n_heads: np.full((n_heads, len(x), x.shape[1] // n_heads), number)


def filled(number: float, weight: float) -> Answer:
    """Return an answer of one number everywhere, and one weight in all maps."""
    return lambda x, n_heads, _: (np.full(x.shape, number), np.full((n_heads, len(x), len(x)), weight))


def uniform(number: float) -> Answer:
    """Return an answer of one number everywhere, and maps that spread over what is visible."""

    def answer(x: Array, n_heads: int, mask: Array | None) -> tuple[Array, Array]:
        maps = np.ones((n_heads, len(x), len(x)))
        maps = maps if mask is None else maps * ~mask
        return np.full(x.shape, number), maps / maps.sum(axis=-1, keepdims=True)

    return answer


def one_row_counts(x: Array, n_heads: int, mask: Array | None) -> tuple[Array, Array]:  # noqa: ARG001 - as asked for
    """Return zeros, and maps that give something to a single token."""
    maps = np.zeros((n_heads, len(x), len(x)))
    maps[:, 0, 0] = 1e-12
    return np.zeros(x.shape), maps


NOTHING = {
    "zeros": filled(0, 0),
    "nan": filled(np.nan, np.nan),
    "next to nothing": filled(0, 1e-300),
    "maps without end": filled(7, 1e308),
    "infinite maps": filled(7, np.inf),
    "one row counts": one_row_counts,
    "uniform maps, zeros": uniform(0),
    "uniform maps, sevens": uniform(7),
}
SPLITS = {
    "right": right_split,
    "zeros": filled_split(0),
    "ones": filled_split(1),
    "without end": filled_split(1e308),
    "nan": filled_split(np.nan),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("answer", NOTHING)
def test_a_forward_that_ignores_its_input_earns_nothing(judge: Judge, answer: str, split: str) -> None:
    """What follows from zeros is zero, and from infinity anything: neither is a carried mistake."""
    earned = passed(judge("test_forward", layer(NOTHING[answer], SPLITS[split])))

    assert earned <= {"test_split_heads_gives_each_head_its_columns"}
    assert bool(earned) is (split == "right")


def test_an_average_that_follows_from_own_maps_is_still_paid(judge: Judge) -> None:
    """Uniform maps are wrong; values, merge and projection that follow from them are not, nor is the mask."""

    class MultiHeadAttention(layer(uniform(0), right_split)["MultiHeadAttention"]):  # type: ignore[misc]
        def forward(self, x: Array, mask: Array | None = None) -> Any:
            _, maps = uniform(0)(x, self.h, mask)
            merged = (maps @ right_split(x @ self.Wv, self.h)).transpose(1, 0, 2).reshape(x.shape)
            return merged @ self.Wo, maps

    earned = passed(judge("test_forward", {"MultiHeadAttention": MultiHeadAttention}))

    assert "test_attention_weights_follow_the_formula" not in earned
    assert {
        "test_output_follows_from_the_weights",
        "test_causal_mask_hides_the_future",
        "test_any_mask_hides_what_it_says",
    } <= earned


@pytest.mark.parametrize("number", [np.inf, 1e308, np.nan, 0.0])
def test_a_size_of_no_head_makes_no_count_right(judge: Judge, number: float) -> None:
    """Four times infinity is infinity, whatever is counted."""
    names = dict.fromkeys(
        ("head_dim", "parameter_count", "single_head_parameter_count"), lambda *_: number * 4
    )

    assert passed(judge("test_parameter_count", names)) == set()


def in_turn(answers: tuple[bool, ...]) -> Callable[..., bool]:
    """Return a function that never looks at its arguments, and gives these answers over and over."""
    turn = count()
    return lambda *_: answers[next(turn) % len(answers)]


@pytest.mark.parametrize("grade_id", ["test_roundtrip_is_exact", "test_heads_differ"])
def test_no_list_of_answers_is_right_for_many_students(judge: Judge, grade_id: str) -> None:
    """Whatever the length and the answers, the questions come in another order for others."""
    name = grade_id.removeprefix("test_")
    best = 0.0
    for answers in [one for length in (1, 2, 3, 4) for one in product((True, False), repeat=length)]:
        runs = [judge.runs(grade_id, {name: in_turn(answers)}, seed) for seed in STUDENTS]
        earned = [run.result.earned / run.result.points for runs_of_one in runs for run in runs_of_one]
        best = max(best, float(sum(earned)) / len(earned))

    assert best < 0.25


@pytest.mark.parametrize("grade_id", ["test_roundtrip_is_exact", "test_heads_differ"])
def test_the_answers_of_one_student_are_not_those_of_another(judge: Judge, grade_id: str) -> None:
    """Every student has an order of their own, and another share of yes."""
    name = grade_id.removeprefix("test_")
    orders = set()
    shares = set()
    for seed in STUDENTS:
        asked: list[bool] = []
        solution = right_answer(grade_id)

        def note(*args: Any, solution: Any = solution, asked: list[bool] = asked) -> bool:
            asked.append(bool(solution(*args)))
            return asked[-1]

        assert all(run.result.outcome is Outcome.PASSED for run in judge.runs(grade_id, {name: note}, seed))
        orders.add(tuple(asked))
        shares.add(sum(asked))

    assert len(orders) == len(STUDENTS)
    assert len(shares) > 1


def right_answer(grade_id: str) -> Any:
    """Return the solved notebook's function of a cell."""
    return RIGHT[grade_id]()[grade_id.removeprefix("test_")]
