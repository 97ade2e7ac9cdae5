"""The test cells, the known mistakes of each, and a judge of solutions that runs in this process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Self

import known_solutions
from handouts import COURSE

from autograder.checks.suite import CheckSuite, LocalNames
from autograder.diagnosis import Misconception, diagnose
from autograder.errors import NotebookError
from autograder.notebook import read_notebook
from autograder.results import CheckResult, Outcome
from autograder.variants import program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from autograder.checks.plugin import CheckRun
    from autograder.checks.suite import Names
    from autograder.notebook import Notebook
    from autograder.variants import Variant

    Program = Callable[[], dict[str, Any]]

MISCONCEPTIONS = {one.name: one for one in known_solutions.WRONG}
ALTERNATIVES = {one.name: one for one in known_solutions.RIGHT}

_RELEASED = [
    (assignment, released)
    for assignment in known_solutions.ASSIGNMENTS
    for released in COURSE.released(assignment)
]
_SOURCES = {
    released.name: read_notebook(COURSE.source(assignment) / f"{released.name}.ipynb", error=NotebookError)
    for assignment, released in _RELEASED
}
HOMES = {
    cell.grade_id: _SOURCES[released.name]
    for _, released in _RELEASED
    for cell in released.graded
    if cell.hidden_check
}
"""The instructor's notebook of each test cell with hidden checks."""

ASSIGNMENT_OF = {cell.grade_id: assignment for assignment, released in _RELEASED for cell in released.graded}
"""The assignment of each test cell."""


def started(home: Notebook, variant: Variant | None = None) -> Program:
    """Return a program that is compiled when it first runs: most tests run a few of them."""

    @cache
    def compiled() -> Program:
        return program(home, variant)

    def run() -> dict[str, Any]:
        """Return a new namespace."""
        return compiled()()

    return run


RIGHT = {grade_id: started(home) for grade_id, home in HOMES.items()}
"""Starts the solved notebook of each test cell."""

WRONG = {one.name: started(HOMES[one.loses], one) for one in MISCONCEPTIONS.values()}
"""Starts the notebook with each misconception in it."""

KNOWN = {
    grade_id: [
        Misconception(one.name, one.claim, one.hint, WRONG[one.name])
        for one in MISCONCEPTIONS.values()
        if one.loses == grade_id
    ]
    for grade_id in HOMES
}
"""The misconceptions of each test cell, ready to be asked."""


class Suites:
    """The checks of all assignments, each made ready at the first need; a context manager."""

    def __init__(self) -> None:
        self._ready: dict[str, CheckSuite] = {}

    def __enter__(self) -> Self:
        """Return the suites."""
        return self

    def __exit__(self, *_: object) -> None:
        """End pytest's sessions."""
        for suite in self._ready.values():
            suite.close()

    def run(self, grade_id: str, names: Names, *, seed: bytes) -> list[CheckRun]:
        """Run the checks of one test cell on one notebook."""
        assignment = ASSIGNMENT_OF[grade_id]
        if assignment not in self._ready:
            self._ready[assignment] = CheckSuite(assignment)
        return self._ready[assignment].run(grade_id, names, seed=seed)


class Judge:
    """
    Runs a cell's checks on some names, and diagnoses them; a context manager.

    Parameters
    ----------
    seed : bytes
        Seeds the checks.
    """

    def __init__(self, seed: bytes = b"diagnosis") -> None:
        self._suites = Suites()
        self._seed = seed

    def __enter__(self) -> Self:
        """Return the judge."""
        return self

    def __exit__(self, *_: object) -> None:
        """End pytest's sessions."""
        self._suites.__exit__()

    def runs(self, grade_id: str, names: Mapping[str, Any], seed: bytes = b"") -> list[CheckRun]:
        """Return how the checks went."""
        return self._suites.run(grade_id, LocalNames(names), seed=self._seed + seed)

    def __call__(self, grade_id: str, names: Mapping[str, Any], seed: bytes = b"") -> list[CheckResult]:
        """Return the results with the mistakes named."""
        return diagnose(self.runs(grade_id, names, seed), KNOWN[grade_id], RIGHT[grade_id])


def names_in(results: list[CheckResult]) -> set[str]:
    """Return the mistakes that the failed checks name; empty text for none."""
    return {result.misconception for result in results if result.outcome is not Outcome.PASSED}
