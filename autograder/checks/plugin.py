"""
The pytest plug-in of the hidden checks: fixtures `student` and `rng`, marker `points`.

pytest's session is started once and kept; its items run again for every
notebook, with another student behind the fixture.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from autograder.checks.student import Exchange, Student, StudentError, StudentMissing
from autograder.errors import AutograderError, CheckError
from autograder.results import CheckResult, Outcome
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What a check's own code may raise when a student's result is of an unexpected kind.
_UNFIT = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class CheckRun:
    """
    One check's result, and what was asked and answered on the way to it.

    Parameters
    ----------
    result : CheckResult
        The outcome.
    exchanges : tuple of Exchange
        Requests to the student's code and its answers, in order.
    """

    result: CheckResult
    exchanges: tuple[Exchange, ...]


class CheckPlugin:
    """
    Puts one student's notebook behind the fixtures and turns reports into results.

    Attributes
    ----------
    items : list of pytest.Item
        The collected checks.
    collect_error : str
        Why a module could not be collected, if it could not.
    """

    def __init__(self, serve: Callable[[CheckPlugin], None]) -> None:
        self.items: list[pytest.Item] = []
        self.collect_error = ""
        self._serve = serve
        self._student: Student | None = None
        self._seed = b""
        self._outcome: CheckResult | None = None
        self._failure: BaseException | None = None

    @pytest.fixture
    def student(self) -> Student:
        """The student's names; see `autograder.checks.student.Student`."""
        assert self._student is not None  # noqa: S101 - set before any item runs
        return self._student

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> Iterator[np.random.Generator]:
        """A random generator of this student and this check, the same at every grading."""
        name = request.node.name
        digest = hmac.digest(self._seed, name.encode(), hashlib.sha256)
        yield np.random.default_rng(int.from_bytes(digest, "big"))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember why a module cannot be collected."""
        if report.failed:
            self.collect_error = report.longreprtext.strip().splitlines()[-1]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve notebooks instead of running the items once."""
        self.items = session.items
        self._serve(self)
        return True

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Turn how an item ended into a result."""
        error = call.excinfo.value if call.excinfo is not None else None
        if call.when == "call":
            self._outcome, self._failure = self._judge(item, error)
        elif error is not None:
            self._failure = error

    def run(self, item: pytest.Item, send: Callable[[bytes], bytes], seed: bytes) -> CheckRun:
        """
        Run one check on one notebook.

        Parameters
        ----------
        item : pytest.Item
            One of `items`.
        send : callable
            Takes an encoded request to the student's code, returns the answer.
        seed : bytes
            Secret of this course and student; seeds `rng`.

        Returns
        -------
        CheckRun
            The result and the exchanges.

        Raises
        ------
        CheckError
            If the check itself is broken.
        AutograderError
            If the machine fails.
        """
        self._student, self._seed = Student(send), seed
        self._outcome = self._failure = None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if isinstance(self._failure, AutograderError):
            raise self._failure
        if self._failure is not None or self._outcome is None:
            raise CheckError(item.nodeid, f"the check is broken ({self._failure!r})", "Mend the check.")
        return CheckRun(self._outcome, tuple(self._student.exchanges))

    def _judge(
        self, item: pytest.Item, error: BaseException | None
    ) -> tuple[CheckResult | None, BaseException | None]:
        passed = CheckResult(
            name=item.name, claim=claim_of(item), points=points_of(item), outcome=Outcome.PASSED
        )
        match error:
            case None:
                return passed, None
            case StudentMissing():
                what = f"`{error.name}` is not defined."
                return replace(passed, outcome=Outcome.MISSING, rationale=what), None
            case StudentError():
                return _error(passed, error.class_name), None
            case LimitReached():
                what = f"Your code was stopped by the limit {error.name}."
                return replace(passed, outcome=Outcome.LIMIT, rationale=what, error=error.name), None
            case WorkerDied():
                what = f"Your code ended the notebook's process ({error.cause})."
                return replace(passed, outcome=Outcome.ERROR, rationale=what, error="WorkerDied"), None
            case AssertionError() | pytest.fail.Exception() | WireError():
                return _failed(passed, error), None
            case _ if isinstance(error, _UNFIT):
                what = "The result is of a kind that cannot be compared."
                return replace(passed, outcome=Outcome.FAILED, rationale=what), None
        return None, error


def claim_of(item: pytest.Item) -> str:
    """Return the sentence a student reads: the first paragraph of the check's docstring."""
    text = inspect.getdoc(_function(item)) or ""
    return " ".join(text.split("\n\n")[0].split())


def points_of(item: pytest.Item) -> Decimal:
    """
    Return what passing a check earns.

    Raises
    ------
    CheckError
        If its marker `points` is missing or not a number above 0.
    """
    marker = item.get_closest_marker("points")
    try:
        points = Decimal(str(marker.args[0])) if marker is not None else Decimal(0)
    except (InvalidOperation, IndexError):
        points = Decimal(0)
    if not points.is_finite() or points <= 0:
        raise CheckError(item.nodeid, "the check has no points", "Mark it with @pytest.mark.points(1).")
    return points


def _function(item: pytest.Item) -> Any:
    return getattr(item, "function", None)


def _error(passed: CheckResult, class_name: str) -> CheckResult:
    if class_name == "MemoryError":
        what = "Your code was stopped by the limit memory_mib."
        return replace(passed, outcome=Outcome.LIMIT, rationale=what, error="memory_mib")
    what = f"Your code raised {class_name}."
    if class_name == "NotImplementedError":
        what = "Your code raised NotImplementedError: the cell is not filled in yet."
    return replace(passed, outcome=Outcome.ERROR, rationale=what, error=class_name)


def _failed(passed: CheckResult, error: BaseException) -> CheckResult:
    # Only texts made to be shown: any other message may hold hidden numbers.
    rationale, hint = (str(getattr(error, name, "")) for name in ("rationale", "hint"))
    return replace(passed, outcome=Outcome.FAILED, rationale=rationale, hint=hint)
