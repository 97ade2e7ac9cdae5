"""The hidden checks of the layer: a wrong split costs its own points, and the rest is judged by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from graded_cells import RIGHT, WRONG, Judge

from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.results import CheckResult

SPLIT = "test_split_heads_gives_each_head_its_columns"
ELSEWHERE = ("split_reshape_only", "split_transpose_first", "split_reversed", "split_round_robin")
"""Splits of the right shape that put the right numbers in other places."""
TOKENS_KEPT = ("split_reversed", "split_round_robin")
"""Those that do not mix tokens: where they are mixed, a hidden token does move the output."""
BROKEN = ("split_features_before_tokens", "split_heads_and_width_swapped", "split_fixed_heads")
"""Splits of a wrong shape, for some sizes at least."""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Return a judge of layers."""
    with Judge(b"follows") as one:
        yield one


def with_split(split: Any, layer: str = "") -> dict[str, Any]:
    """Return a layer, right or with a known mistake, whose method splits in another way."""
    names = WRONG[layer]() if layer else RIGHT["test_forward"]()
    names["MultiHeadAttention"].split_heads = lambda self, x: split(x, self.h)
    return names


def lost(results: list[CheckResult]) -> set[str]:
    """Return the checks that were not passed."""
    return {result.name for result in results if result.outcome is not Outcome.PASSED}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_split_that_puts_numbers_elsewhere_costs_its_own_points(judge: Judge, name: str) -> None:
    """Half a point of six: the forward pass is right for what it is given."""
    assert lost(judge("test_forward", with_split(WRONG[name]()["split_heads"]))) == {SPLIT}


@pytest.mark.parametrize("name", TOKENS_KEPT)
@pytest.mark.parametrize(
    "layer", ["scale_missing", "mask_ignored", "weights_no_output", "softmax_over_queries"]
)
def test_a_mistake_in_forward_costs_the_same_with_any_split(judge: Judge, name: str, layer: str) -> None:
    """A second mistake is not forgiven with the first, and costs no more beside it."""
    alone = lost(judge("test_forward", WRONG[layer]()))
    together = lost(judge("test_forward", with_split(WRONG[name]()["split_heads"], layer)))

    assert together == alone | {SPLIT}


def test_what_is_not_a_split_is_not_followed(judge: Judge) -> None:
    """Lost numbers, of the right shape, leave nothing to judge a forward pass by."""
    right = RIGHT["test_split_heads"]()["split_heads"]

    def first_head_only(x: np.ndarray[Any, Any], n_heads: int) -> Any:
        heads = right(x, n_heads)
        return np.repeat(heads[:1], n_heads, axis=0)

    assert len(lost(judge("test_forward", with_split(first_head_only)))) > 5


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_split_is_named_as_the_cause(judge: Judge, name: str) -> None:
    """What needs it is not judged, and says to mend it first; the points wait for it."""
    results = judge("test_forward", with_split(WRONG[name]()["split_heads"]))
    after = [one for one in results if one.outcome is not Outcome.PASSED and one.name != SPLIT]

    assert SPLIT in lost(results)
    assert len(lost(results)) > 1
    assert {one.outcome for one in after} == {Outcome.NOT_JUDGED}
    assert all("needs your split_heads" in one.rationale for one in after)


@pytest.mark.parametrize("layer", ["scale_missing", "attn_transposed", "mask_inverted"])
def test_a_right_split_is_not_named_as_a_cause(judge: Judge, layer: str) -> None:
    """The mistake lies elsewhere."""
    results = judge("test_forward", WRONG[layer]())

    assert lost(results)
    assert not any("split_heads fails" in one.hint for one in results)
