"""Diagnosis: nobody is blamed for a mistake that is not there."""

from __future__ import annotations

import zlib
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from corruptions import GRADED, SPOILS, corrupted
from graded_cells import (
    ALTERNATIVES,
    ASSIGNMENT_OF,
    HOMES,
    KNOWN,
    MISCONCEPTIONS,
    RIGHT,
    WRONG,
    Judge,
    names_in,
)
from known_solutions import assignment_of
from parallel import print_at_end

from autograder.checks.suite import CheckSuite
from autograder.diagnosis import diagnose
from autograder.results import Outcome
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.statements import cut, names_bound
from autograder.variants import LABELS, program, touched_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from autograder.results import CheckResult

KINDS_EACH = 2
"""Faults that each alternative gets in each name that a test cell asks for."""


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Run a cell's checks on some names, and diagnose them."""
    with Judge(b"blame") as one:
        yield one


def faults(alternative: str) -> list[tuple[str, str, str, int]]:
    """Return cells, names in them, kinds of fault and seeds for an alternative."""
    variant = ALTERNATIVES[alternative]
    cells = [
        grade_id
        for grade_id in GRADED
        if ASSIGNMENT_OF[grade_id] == assignment_of(variant) and touched_cells(HOMES[grade_id], variant)
    ]
    chosen = []
    for grade_id in cells:
        for target in GRADED[grade_id]:
            seed = zlib.crc32(f"{alternative} {target}".encode())
            kinds = [list(SPOILS)[(seed + step) % len(SPOILS)] for step in range(KINDS_EACH)]
            chosen += [(grade_id, target, kind, seed + step) for step, kind in enumerate(kinds)]
    return chosen


@pytest.mark.parametrize("alternative", [name for name in ALTERNATIVES if faults(name)])
def test_a_random_fault_in_a_right_solution_is_called_nothing(judge: Judge, alternative: str) -> None:
    """One number wrong, noise, a row dropped: a symptom is told, never a misconception's name."""
    failed = 0
    for grade_id, target, kind, seed in faults(alternative):
        right = program(HOMES[grade_id], ALTERNATIVES[alternative])()
        results = judge(grade_id, corrupted(right, target, kind, seed), seed=str(seed).encode())
        lost = [result for result in results if result.outcome is not Outcome.PASSED]
        failed += bool(lost)

        assert names_in(results) <= {""}, (grade_id, target, kind)
        assert all(result.rationale for result in lost)
    assert failed


def defined(name: str) -> frozenset[str]:
    """Return the names that a misconception defines."""
    return names_bound(cut(MISCONCEPTIONS[name].source)) - set(LABELS)


def both(first: str, second: str) -> dict[str, Any]:
    """Return names with two mistakes: the first one's functions, or its method, put into the second's."""
    names = WRONG[second]()
    mine = WRONG[first]()
    for name in defined(first):
        if isinstance(mine[name], type):
            for method in ("__init__", "split_heads", "forward"):
                changed = getattr(mine[name], method)
                if f"    def {method}(" in MISCONCEPTIONS[first].source:
                    setattr(names[name], method, changed)
        else:
            names[name] = mine[name]
    return names


def parts(name: str) -> frozenset[str]:
    """Return what a misconception changes: names of functions, methods of the class."""
    source = MISCONCEPTIONS[name].source
    methods = {one for one in ("__init__", "split_heads", "forward") if f"    def {one}(" in source}
    return frozenset(methods if "MultiHeadAttention" in defined(name) else defined(name))


def pairs() -> list[tuple[str, str]]:
    """Return pairs of misconceptions of one notebook that change different things; of the layer a sample."""
    apart = [
        (first, second)
        for first, second in combinations(sorted(MISCONCEPTIONS, key=lambda one: (len(parts(one)), one)), 2)
        if HOMES[MISCONCEPTIONS[first].loses] is HOMES[MISCONCEPTIONS[second].loses]
        and not parts(first) & parts(second)
    ]
    small = [pair for pair in apart if "test_forward" not in {MISCONCEPTIONS[one].loses for one in pair}]
    large = [pair for pair in apart if {MISCONCEPTIONS[one].loses for one in pair} == {"test_forward"}]
    mixed = [pair for pair in apart if pair not in {*small, *large}]
    return small[::6] + mixed[::80] + large[::20]


def test_of_two_mistakes_none_but_the_two_are_named(judge: Judge, request: pytest.FixtureRequest) -> None:
    """Mixed numbers fit nothing, or one of the two; what is not explained is called something else."""
    named = 0
    for pair in pairs():
        names = both(*pair)
        cells = sorted({MISCONCEPTIONS[one].loses for one in pair})
        results = [result for cell in cells for result in judge(cell, names)]
        found = names_in(results) - {""}
        named += bool(found)

        assert found <= set(pair), pair
        rest = [one for one in results if one.outcome is Outcome.FAILED and not one.misconception]
        if found and len(cells) == 1:
            assert all(result.rationale.startswith("And something else: ") for result in rest)
    lines = [f"{named} of {len(pairs())}"]
    print_at_end(request.config, "pairs of misconceptions of which one is named", lines)
    assert named > 0.75 * len(pairs())


def raising(error: type[BaseException]) -> Callable[..., Any]:
    """Return what raises, however it is called."""

    def call(*_: object, **__: object) -> None:
        raise error

    return call


@pytest.mark.parametrize("error", [NotImplementedError, ValueError, TypeError, IndexError, SystemExit])
@pytest.mark.parametrize("grade_id", [grade_id for grade_id in GRADED if grade_id != "test_worked_example"])
def test_an_exception_alone_is_called_nothing(
    judge: Judge, grade_id: str, error: type[BaseException]
) -> None:
    """An empty cell raises, and so do many mistakes; that they do is no likeness."""
    assert names_in(judge(grade_id, dict.fromkeys(GRADED[grade_id], raising(error)))) == {""}


@pytest.mark.parametrize("error", [NotImplementedError, ValueError, IndexError])
@pytest.mark.parametrize("method", ["forward", "split_heads"])
def test_a_layer_whose_method_raises_is_called_nothing(
    judge: Judge, method: str, error: type[BaseException]
) -> None:
    """The layer can be made, and everything else of it is right."""
    right = RIGHT["test_forward"]()
    setattr(right["MultiHeadAttention"], method, raising(error))

    assert names_in(judge("test_forward", right)) == {""}


@pytest.mark.parametrize("grade_id", GRADED)
@pytest.mark.parametrize("nothing", [None, "", 0.5, (), True])
def test_nothing_in_particular_is_called_nothing(judge: Judge, grade_id: str, nothing: object) -> None:
    """A stub that returns None, or something of the wrong kind, has no mistake to name."""
    names: dict[str, Any] = {}
    for name in GRADED[grade_id]:
        is_value = grade_id == "test_worked_example"
        names[name] = nothing if is_value else lambda *_, **__: nothing

    assert names_in(judge(grade_id, names)) == {""}


@pytest.mark.parametrize("grade_id", GRADED)
def test_an_empty_notebook_is_called_nothing(judge: Judge, grade_id: str) -> None:
    """Where no name is defined there is no mistake."""
    assert names_in(judge(grade_id, {})) == {""}


class Stopped:
    """Names of a notebook whose process stops at its first call."""

    def __init__(self, end: Exception) -> None:
        self._end = end

    def scope(self, name: str) -> None:
        """Do nothing."""

    def request(self, request: bytes) -> bytes:  # noqa: ARG002 - whatever is asked
        """Hang, until a limit stops it."""
        raise self._end


@pytest.mark.parametrize("end", [LimitReached("wall_time_s"), LimitReached("memory_mib"), WorkerDied("exit")])
def test_what_hangs_or_dies_is_called_nothing(end: Exception) -> None:
    """There is no number to compare."""
    with CheckSuite("multi_head_attention", ["test_split_heads"]) as suite:
        runs = suite.run("test_split_heads", Stopped(end), seed=b"")

    assert names_in(diagnose(runs, KNOWN["test_split_heads"], RIGHT["test_split_heads"])) == {""}


def test_a_new_mistake_is_called_nothing(judge: Judge) -> None:
    """Numbers that no known mistake gives keep what the check found."""
    right = RIGHT["test_split_heads"]()["split_heads"]

    results = judge("test_split_heads", {"split_heads": lambda x, n_heads: right(x, n_heads) * 2})
    failed: list[CheckResult] = [result for result in results if result.outcome is Outcome.FAILED]

    assert failed
    assert names_in(failed) == {""}
    assert all(result.rationale for result in failed)


def test_what_a_mistake_gets_wrong_must_be_wrong() -> None:
    """A function that is right but where sizes coincide is not called by a name that is wrong everywhere."""
    right = RIGHT["test_split_heads"]()["split_heads"]
    naive = WRONG["split_reshape_only"]()["split_heads"]

    def split_heads(x: np.ndarray[Any, Any], n_heads: int) -> Any:
        return naive(x, n_heads) if x.shape == (3, 6) else right(x, n_heads)

    with Judge() as judge:
        results = judge("test_split_heads", {"split_heads": split_heads})

    assert [one.outcome for one in results].count(Outcome.FAILED) == 1
    assert names_in(results) == {""}
