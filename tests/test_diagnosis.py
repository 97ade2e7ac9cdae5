"""Diagnosis: a known mistake is called by its name, and what is left over is told."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from graded_cells import HOMES, KNOWN, MISCONCEPTIONS, RIGHT, WRONG, Judge, names_in
from parallel import print_at_end

from autograder import diagnosis
from autograder.diagnosis import MAX_REPLAYED, Misconception, diagnose
from autograder.likeness import replayed
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

UNNAMED = {
    "head_dim_only_prints": "it gives None, as where any branch is forgotten",
    "heads_differ_from_first": "it gives one wrong answer of yes or no, and chance gives that too",
    "heads_differ_neighbours": "the same",
    "mask_along_heads": "it raises unless there are as many heads as tokens",
    "mask_fill_of_dtype": "it raises for whole numbers with a mask",
    "mask_truth_value": "it raises wherever there is a mask, and an exception has many causes",
    "roundtrip_almost_equal": "its answers of yes or no are so few that chance may give them",
    "roundtrip_any_equal": "the same",
    "roundtrip_by_reshape": "the same",
    "roundtrip_ignores_heads": "the same",
    "roundtrip_one_sided": "the same",
    "roundtrip_returns_array": "an array where yes or no is asked has many causes",
    "roundtrip_same_numbers": "the same as for roundtrip_by_reshape",
    "scores_all_axes_reversed": "it raises wherever sizes differ",
    "split_tokens_not_features": "it raises in every check",
    "state_random_dropout": "its numbers are random, so no replay gives them again",
    "types_fixed_length": "it raises for every other number of tokens",
}
"""Mistakes that go without a name, and why. What was seen is told all the same."""

MOST_UNNAMED = 0.1
"""The share of the known mistakes that may go without a name."""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Run a cell's checks on some names, and diagnose them."""
    with Judge() as one:
        yield one


@pytest.fixture(scope="module")
def found(judge: Judge) -> dict[str, list[Any]]:
    """Return what is found of each known mistake."""
    return {name: judge(one.loses, WRONG[name]()) for name, one in MISCONCEPTIONS.items()}


@pytest.mark.parametrize("name", MISCONCEPTIONS)
def test_a_known_mistake_is_called_by_its_name(name: str, found: dict[str, list[Any]]) -> None:
    """Every check that it fails says so, with the sentence a teacher would say; no other name is given."""
    named = names_in(found[name])

    assert named
    if name in UNNAMED:
        assert named == {""}
    else:
        assert named == {name}
        failed = [result for result in found[name] if result.outcome is not Outcome.PASSED]
        assert all(MISCONCEPTIONS[name].claim in result.hint for result in failed)


def test_few_known_mistakes_go_without_a_name(
    found: dict[str, list[Any]], request: pytest.FixtureRequest
) -> None:
    """The exceptions are counted, and each is still the name of a misconception."""
    right = sum(names_in(results) == {name} for name, results in found.items())
    print_at_end(request.config, "misconceptions rightly named", [f"{right} of {len(found)}"])

    assert right == len(found) - len(UNNAMED)
    assert set(UNNAMED) <= set(found)
    assert len(UNNAMED) <= MOST_UNNAMED * len(found)


def test_what_goes_without_a_name_is_told_what_was_seen(found: dict[str, list[Any]]) -> None:
    """A symptom stands where a name would."""
    for name in UNNAMED:
        failed = [result for result in found[name] if result.outcome is not Outcome.PASSED]
        assert failed
        assert all(result.rationale for result in failed)


@pytest.mark.parametrize("grade_id", HOMES)
def test_a_right_solution_is_called_nothing(judge: Judge, grade_id: str) -> None:
    """Passing checks carry no mistake's name."""
    results = judge(grade_id, RIGHT[grade_id]())

    assert {(result.outcome, result.misconception) for result in results} == {(Outcome.PASSED, "")}


def test_two_mistakes_are_called_by_two_names(judge: Judge) -> None:
    """Each failed check is explained by what explains it."""
    names = RIGHT["test_parameter_count"]() | {
        function: WRONG[name]()[function]
        for name, function in (
            ("count_times_heads", "parameter_count"),
            ("single_head_narrow", "single_head_parameter_count"),
        )
    }

    assert names_in(judge("test_parameter_count", names)) == {"count_times_heads", "single_head_narrow"}


def test_what_a_known_mistake_does_not_explain_is_something_else(judge: Judge) -> None:
    """The name stands at what it explains; at the rest stands what was seen, and that it is not the same."""
    names = RIGHT["test_parameter_count"]() | {
        "parameter_count": WRONG["count_times_heads"]()["parameter_count"],
        "single_head_parameter_count": lambda d_model: 4 * d_model**2 + 17,
    }

    results = {result.name: result for result in judge("test_parameter_count", names)}
    total = results["test_all_four_projections_are_counted"]
    single = results["test_one_head_has_an_output_projection_too"]

    assert total.misconception == "count_times_heads"
    assert not total.rationale.startswith("And something else")
    assert single.misconception == ""
    assert single.rationale == "And something else: The result is too large."


def test_a_mistake_that_explains_a_part_is_named_as_a_part(judge: Judge) -> None:
    """The maps tell the missing scale, though something unknown happens to the output."""
    names = WRONG["scale_missing"]()
    wrong = names["MultiHeadAttention"]

    class MultiHeadAttention(wrong):  # type: ignore[misc, valid-type]
        def forward(self, x: Any, mask: Any = None) -> Any:
            out, attn = super().forward(x, mask)
            return out + 0.1 * np.cos(out), attn

    results = judge("test_forward", names | {"MultiHeadAttention": MultiHeadAttention})
    parts = [one for one in results if one.rationale.endswith("explains a part of this, but not all.")]

    assert parts
    assert {one.misconception for one in parts} == {"scale_missing"}
    assert names_in(results) <= {"scale_missing", ""}


def test_mistakes_that_cannot_be_told_apart_are_told_as_one(judge: Judge) -> None:
    """One name is counted, and the sentences of both are said, since either may be it."""
    one, *_ = (known for known in KNOWN["test_split_heads"] if known.name == "split_round_robin")
    twin = Misconception("split_twin", "You deal the features out like cards.", "Hm?", one.start)
    runs = judge.runs("test_split_heads", one.start())

    results = diagnose(runs, [*KNOWN["test_split_heads"], twin], RIGHT["test_split_heads"])
    failed = [result for result in results if result.outcome is not Outcome.PASSED]

    assert names_in(results) == {"split_round_robin"}
    assert all(one.claim in result.hint and twin.claim in result.hint for result in failed)


@pytest.mark.parametrize("name", ["split_reshape_only", "types_fixed_length", "scale_missing", "count_float"])
def test_diagnosis_changes_no_outcome_and_no_points(judge: Judge, name: str) -> None:
    """Names, sentences and hints are all that it adds."""
    one = MISCONCEPTIONS[name]
    runs = judge.runs(one.loses, WRONG[name]())

    before = [(run.result.name, run.result.outcome, run.result.earned, run.result.error) for run in runs]
    results = diagnose(runs, KNOWN[one.loses], RIGHT[one.loses])

    assert [(one.name, one.outcome, one.earned, one.error) for one in results] == before


def test_diagnosis_is_the_same_again(judge: Judge) -> None:
    """Nothing that a replay leaves behind reaches the next."""
    runs = judge.runs("test_forward", WRONG["state_cached_by_shape"]())

    first, again = (diagnose(runs, KNOWN["test_forward"], RIGHT["test_forward"]) for _ in range(2))

    assert first == again


class Asked:
    """Counts what is asked of some names."""

    def __init__(self) -> None:
        self.calls = Counter[str]()

    def start(self, name: str, names: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return names whose function is counted."""

        def split_heads(*args: Any) -> Any:
            self.calls[name] += 1
            return names["split_heads"](*args)

        return {**names, "split_heads": split_heads}


def test_no_more_is_asked_again_than_allowed(judge: Judge) -> None:
    """Where the requests do not suffice nobody is named, so that the time has a bound."""
    asked = Asked()
    known = [
        Misconception(
            one.name,
            one.claim,
            one.hint,
            lambda one=one: asked.start(one.name, one.start()),  # type: ignore[misc]
        )
        for one in KNOWN["test_split_heads"]
    ]
    runs = judge.runs("test_split_heads", WRONG["split_reshape_only"]())

    results = diagnose(runs, known, RIGHT["test_split_heads"], max_replayed=9)

    assert names_in(results) == {""}
    assert 0 < sum(asked.calls.values()) <= 9


def noise(x: np.ndarray[Any, Any], n_heads: int) -> tuple[Any, Any]:
    """Return an output and maps that fit nothing."""
    rng = np.random.default_rng(0)
    return rng.normal(size=x.shape), rng.random((n_heads, len(x), len(x)))


def vast(x: np.ndarray[Any, Any], n_heads: int) -> tuple[Any, Any]:  # noqa: ARG001 - the size is all
    """Return far too many numbers."""
    return np.ones((1000, 1000)), np.ones((10, 300, 300))


@pytest.mark.parametrize("answer", [noise, vast])
def test_a_solution_wrong_everywhere_costs_a_bounded_time(
    judge: Judge, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything fails and nothing fits: the dearest case stays far inside what may be asked again."""
    right = RIGHT["test_forward"]()
    asked = 0

    base = right["MultiHeadAttention"]

    class MultiHeadAttention(base):  # type: ignore[misc, valid-type]
        def forward(self, x: Any, mask: Any = None) -> Any:  # noqa: ARG002 - wrong with any mask
            return answer(x, self.h)

    def counted(*args: Any) -> Iterator[bytes]:
        nonlocal asked
        for one in replayed(*args):
            asked += 1
            yield one

    monkeypatch.setattr(diagnosis, "replayed", counted)
    runs = judge.runs("test_forward", right | {"MultiHeadAttention": MultiHeadAttention})

    results = diagnose(runs, KNOWN["test_forward"], RIGHT["test_forward"])

    assert names_in(results) == {""}
    assert len(KNOWN["test_forward"]) < asked < MAX_REPLAYED / 2


def test_a_result_wrong_only_with_several_heads_says_so(judge: Judge) -> None:
    """All cases of a check together tell more than the first that is wrong."""
    right = RIGHT["test_split_heads"]()["split_heads"]

    def split_heads(x: np.ndarray[Any, Any], n_heads: int) -> Any:
        heads = right(x, n_heads)
        return heads if n_heads == 1 else heads + 1

    results = judge("test_split_heads", {"split_heads": split_heads})
    hints = {one.name: one.hint for one in results if one.outcome is Outcome.FAILED}
    everywhere = judge("test_split_heads", {"split_heads": lambda x, n_heads: right(x, n_heads) + 1})

    assert "With one head your result is right" in hints["test_sizes_that_coincide_do_not_matter"]
    assert not any("With one head" in one.hint for one in everywhere)


@pytest.mark.parametrize(("error", "told"), [(ValueError, "shapes"), (TypeError, "kind"), (LookupError, "")])
def test_an_exception_is_told_with_what_it_suggests(judge: Judge, error: type[Exception], told: str) -> None:
    """Its class is all that is known, and often enough."""

    def split_heads(*_: object) -> None:
        raise error

    results = judge("test_split_heads", {"split_heads": split_heads})

    assert all(told in one.hint if told else not one.hint for one in results)
