"""Hidden inputs: other ones for every student, the same at every grading, and none to be learnt by heart."""

from __future__ import annotations

import inspect
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from corruptions import GRADED
from graded_cells import ASSIGNMENT_OF, HOMES, RIGHT, Suites
from handouts import named

from autograder.checks.suite import CheckSuite, LocalNames
from autograder.course.released import strip_hidden
from autograder.course.secret import seed_of
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.checks.plugin import CheckRun

SECRET = b"of no course, but long enough for one"

FIXED = {
    ("test_head_dim", "test_uneven_heads_are_refused"): "what is refused has no answer to be learnt",
    ("test_parameter_count", "test_uneven_heads_are_refused"): "the same",
    ("test_tokens_in_naive_head", "test_naive_heads_take_whole_tokens"): "a table of its sizes, all heads",
    ("test_tokens_in_naive_head", "test_a_token_may_fall_into_two_naive_heads"): "the same",
    ("test_worked_example", "test_size_of_one_head"): "the question names its numbers",
    ("test_worked_example", "test_parameters_of_eight_heads"): "the same",
    ("test_worked_example", "test_parameters_of_a_single_head"): "the same",
}
"""Checks that ask every student the same, and why."""

LEARNT = {
    "test_worked_example": "the answers are three numbers, and are all that is asked for",
}
"""Cells whose points a table of the visible examples may earn, and why."""


@pytest.fixture(scope="module")
def suite() -> Iterator[Suites]:
    """Return the checks, ready to run."""
    with Suites() as ready:
        yield ready


def asked(
    suite: Suites | CheckSuite, grade_id: str, student: str, version: int = 1
) -> dict[str, list[bytes]]:
    """Return what each check of a cell asks a right solution of a student."""
    seed = seed_of(SECRET, ASSIGNMENT_OF[grade_id], version, student)
    runs = suite.run(grade_id, LocalNames(RIGHT[grade_id]()), seed=seed)
    assert {run.result.outcome for run in runs} == {Outcome.PASSED}
    return {run.result.name: [exchange.request for exchange in run.exchanges] for run in runs}


@pytest.mark.parametrize("grade_id", HOMES)
def test_two_students_are_asked_other_numbers_in_every_check(suite: Suites, grade_id: str) -> None:
    """So are two versions; only the checks listed ask everybody the same."""
    ana, ben, later = (asked(suite, grade_id, *who) for who in (("ana",), ("ben",), ("ana", 2)))

    assert ana.keys() == ben.keys() == later.keys()
    for check in ana:
        if (grade_id, check) in FIXED:
            assert ana[check] == ben[check] == later[check]
        else:
            assert ana[check] != ben[check], check
            assert ana[check] != later[check], check


def test_checks_that_ask_everybody_the_same_are_those_listed(suite: Suites) -> None:
    """They are few, and each exists."""
    checks = {(grade_id, check) for grade_id in HOMES for check in asked(suite, grade_id, "ana")}

    assert FIXED.keys() <= checks
    assert len(FIXED) < len(checks) / 4


@pytest.mark.parametrize("grade_id", HOMES)
def test_a_student_is_asked_the_same_at_every_grading(suite: Suites, grade_id: str) -> None:
    """Also by another process, and if the other cells are not checked: each check draws its own numbers."""
    first, again = (asked(suite, grade_id, "ana") for _ in range(2))
    with CheckSuite(ASSIGNMENT_OF[grade_id], [grade_id]) as other:
        alone = asked(other, grade_id, "ana")

    assert first == again == alone


class Examples:
    """The visible examples of a test cell: what it asks a right solution, and what that answers."""

    def __init__(self, grade_id: str) -> None:
        self.answers: dict[Any, Any] = {}
        names = RIGHT[grade_id]() | {"np": np}
        for target in GRADED[grade_id]:
            right = names[target]
            if isinstance(right, type):
                self._watch(right)
            elif callable(right):
                names[target] = self._recorded(target, right)
        exec(strip_hidden(named(HOMES[grade_id], grade_id)["source"]), names)  # noqa: S102 - the course's own

    def _recorded(self, target: str, right: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            key = (target, spelt(inspect.signature(right).bind(*args, **kwargs).arguments))
            try:
                self.answers[key] = right(*args, **kwargs)
            except Exception as error:
                self.answers[key] = error
                raise
            return self.answers[key]

        return call

    def _watch(self, layer: Any) -> None:
        for method in ("split_heads", "forward"):
            setattr(layer, method, self._recorded(method, getattr(layer, method)))

    def learnt(self, grade_id: str, otherwise: Callable[[str], Any]) -> dict[str, Any]:
        """Return a solution that knows the examples by heart, and does something else otherwise."""
        names = RIGHT[grade_id]() | {"np": np}

        def by_heart(target: str, right: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                key = (target, spelt(inspect.signature(right).bind(*args, **kwargs).arguments))
                answer = self.answers[key] if key in self.answers else otherwise(target)
                if isinstance(answer, Exception):
                    raise answer
                return answer

            return call

        for target in GRADED[grade_id]:
            if isinstance(names[target], type):
                for method in ("split_heads", "forward"):
                    setattr(names[target], method, by_heart(method, getattr(names[target], method)))
            elif callable(names[target]):
                names[target] = by_heart(target, names[target])
        return names


def spelt(value: Any) -> Any:
    """Return what stands for a value as a key: a layer by its weights."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.kind, value.tobytes()
    if isinstance(value, dict):
        return tuple((key, spelt(item)) for key, item in value.items())
    if hasattr(value, "Wq"):
        return tuple(spelt(getattr(value, name)) for name in ("Wq", "Wk", "Wv", "Wo"))
    return value


def earned(runs: list[CheckRun]) -> Decimal:
    """Return the points of all checks."""
    return sum((run.result.earned for run in runs), Decimal(0))


def raises(_: str) -> Any:
    """Give up."""
    raise LookupError


@pytest.mark.parametrize("grade_id", HOMES)
def test_a_table_of_the_visible_examples_earns_nothing(suite: Suites, grade_id: str) -> None:
    """Whether it gives up otherwise or answers with an example."""
    examples = Examples(grade_id)
    assert examples.answers or grade_id == "test_worked_example"

    def some_example(target: str) -> Any:
        found = [answer for (name, _), answer in examples.answers.items() if name == target]
        return next((answer for answer in found if not isinstance(answer, Exception)), None)

    for otherwise in (raises, some_example):
        names = examples.learnt(grade_id, otherwise)
        # It does know them: the visible tests pass.
        exec(strip_hidden(named(HOMES[grade_id], grade_id)["source"]), dict(names))  # noqa: S102 - the course's
        points = earned(
            suite.run(grade_id, LocalNames(names), seed=seed_of(SECRET, ASSIGNMENT_OF[grade_id], 1, "ana"))
        )

        assert bool(points) is (grade_id in LEARNT), (otherwise, points)
