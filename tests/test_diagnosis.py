"""Diagnosis: a known mistake is called by its name, and nothing else is."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from handouts import ASSIGNMENT, COURSE, RELEASED

from autograder.checks.suite import CheckSuite, LocalNames
from autograder.diagnosis import Misconception, diagnose
from autograder.errors import NotebookError
from autograder.notebook import read_notebook
from autograder.results import CheckResult, Outcome
from autograder.variants import Variant, load_variants, program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.notebook import Notebook

    Judge = Callable[[str, dict[str, object]], list[CheckResult]]

MISCONCEPTIONS = load_variants(COURSE.root, "misconceptions", ASSIGNMENT)
SOURCES = {
    released.name: read_notebook(COURSE.source(ASSIGNMENT) / f"{released.name}.ipynb", error=NotebookError)
    for released in RELEASED
}
HOMES = {cell.grade_id: SOURCES[released.name] for released in RELEASED for cell in released.graded}

UNNAMED = {
    "split_tokens_not_features": "it raises in every check, and an exception alone names no mistake",
    "state_random_dropout": "its numbers are random, so no replay gives them again",
}
CONFUSED = {
    "split_rounds_to_float32": "split_caches_by_shape gives the same numbers, up to rounding, where it fails",
}
# Wrong forwards are many and slow to tell apart; the others are all taken.
FORWARD_STEP = 5


def sample() -> list[Variant]:
    """Return the misconceptions to try: every fifth of those of the forward pass, all others."""
    forward = [one for one in MISCONCEPTIONS if one.loses == "test_forward"]
    return [one for one in MISCONCEPTIONS if one not in forward] + forward[::FORWARD_STEP]


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Run a cell's checks on some names, and diagnose them."""
    known: dict[str, list[Misconception]] = defaultdict(list)
    for one in MISCONCEPTIONS:
        start = program(HOMES[one.loses], one)
        known[one.loses].append(Misconception(one.name, one.claim, one.hint, start))
    with CheckSuite(ASSIGNMENT) as suite:
        yield lambda grade_id, names: diagnose(
            suite.run(grade_id, LocalNames(names), seed=b"diagnosis"), known[grade_id]
        )


@pytest.mark.parametrize("one", sample(), ids=lambda one: one.name)
def test_a_known_mistake_is_called_by_its_name(judge: Judge, one: Variant) -> None:
    """Every check that it fails says so, with the sentence a teacher would say."""
    results = judge(one.loses, program(HOMES[one.loses], one)())
    failed = [result for result in results if result.outcome is not Outcome.PASSED]
    named = {result.misconception for result in failed}

    assert failed
    if one.name in UNNAMED:
        assert "" in named
    elif one.name not in CONFUSED:
        assert named == {one.name}
        assert all(one.claim in result.hint for result in failed)


@pytest.mark.parametrize("grade_id", sorted(HOMES.keys() - {"explain_reshape_order"}))
def test_a_right_solution_is_called_nothing(judge: Judge, grade_id: str) -> None:
    """Passing checks carry no mistake's name."""
    results = judge(grade_id, program(HOMES[grade_id])())

    assert {(result.outcome, result.misconception) for result in results} == {(Outcome.PASSED, "")}


@pytest.mark.parametrize("error", [NotImplementedError, ValueError, TypeError, IndexError])
def test_an_exception_alone_is_called_nothing(judge: Judge, error: type[Exception]) -> None:
    """An empty cell raises, and so do many mistakes; that they do is no likeness."""

    def split_heads(*_: object) -> None:
        raise error

    results = judge("test_split_heads", {"split_heads": split_heads})

    assert {result.misconception for result in results} == {""}


def test_a_new_mistake_is_called_nothing(judge: Judge) -> None:
    """Numbers that no known mistake gives keep what the check found."""
    right = program(HOMES["test_split_heads"])()["split_heads"]

    results = judge("test_split_heads", {"split_heads": lambda x, n_heads: right(x, n_heads) * 2})
    failed = [result for result in results if result.outcome is Outcome.FAILED]

    assert failed
    assert {result.misconception for result in failed} == {""}
    assert all(result.rationale for result in failed)


def test_two_mistakes_are_called_by_two_names(judge: Judge) -> None:
    """Each failed check is explained by what explains it."""
    by_name = {one.name: one for one in MISCONCEPTIONS}
    notebook: Notebook = HOMES["test_head_dim"]
    wrong = {
        name: program(notebook, by_name[name])()[function]
        for name, function in (
            ("count_times_heads", "parameter_count"),
            ("single_head_narrow", "single_head_parameter_count"),
        )
    }
    names = program(notebook)() | {
        "parameter_count": wrong["count_times_heads"],
        "single_head_parameter_count": wrong["single_head_narrow"],
    }
    found = {result.misconception for result in judge("test_parameter_count", names)} - {""}

    assert found == {"count_times_heads", "single_head_narrow"}
