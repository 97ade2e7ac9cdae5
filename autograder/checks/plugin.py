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

from autograder.checks.asserts import NotJudged
from autograder.checks.conversation import Exchange, Exchanges, StudentError, StudentMissing
from autograder.errors import AutograderError, CheckError
from autograder.results import CheckResult, Outcome
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autograder.checks.student import Student

UNFIT = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError)
"""What trusted code may raise when a student's result is of an unexpected kind."""
_STOPPED = {
    "wall_time_s": "Your code took too long and was stopped. Is there a loop that never ends?",
    "cpu_time_s": "Your code used too much processor time and was stopped. Is there a loop that never ends?",
    "notebook_time_s": "The notebook's time was used up before this check. Which cell takes so long?",
    "memory_mib": "Your code asked for more memory than there is. Is an array larger than you think?",
    "file_mib": "Your code wrote more to files than it may.",
}
"""What a student reads of a limit, by its name."""

_FIXTURES = {"student", "rng"}
_NOT_CALLED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_TOLD = (StudentMissing, StudentError, LimitReached, WorkerDied)
_WRONG = (AssertionError, pytest.fail.Exception, WireError)
_OUTCOMES = (*_TOLD, *_WRONG, *UNFIT)


@dataclass(frozen=True, slots=True)
class CheckRun:
    """
    One check's result, and what was asked and answered on the way to it.

    Parameters
    ----------
    result : CheckResult
        The outcome.
    exchanges : sequence of Exchange
        What was asked of the student's code and its answers, in order, one step each.
    """

    result: CheckResult
    exchanges: Sequence[Exchange]


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
        self._results: dict[pytest.Item, CheckResult] = {}
        self._student: Student | None = None
        self._seed = b""
        self._name = ""
        self._plain: dict[object, bool] = {}

    @pytest.fixture
    def student(self) -> Student:
        """The student's names; see `autograder.checks.student.Student`."""
        assert self._student is not None  # noqa: S101 - set before any item runs
        return self._student

    @pytest.fixture
    def rng(self) -> np.random.Generator:
        """A random generator of this student and this check, the same at every grading."""
        return self._generator()

    def _generator(self) -> np.random.Generator:
        digest = hmac.digest(self._seed, self._name.encode(), hashlib.sha256)
        return np.random.default_rng(int.from_bytes(digest, "big"))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember why a module cannot be collected."""
        if report.failed:
            self.collect_error = report.longreprtext.strip().splitlines()[-1]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve notebooks instead of running the items once."""
        self.items = session.items
        self._serve(self)
        return True

    def run(self, item: pytest.Item, student: Student, seed: bytes, *, last: bool = True) -> CheckRun:
        """
        Run one check on one notebook.

        Parameters
        ----------
        item : pytest.Item
            One of `items`.
        student : Student
            The notebook's names, for this check alone.
        seed : bytes
            Secret of this course and student; seeds `rng`.
        last : bool
            False if a check of the same module follows, on the same notebook.

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
        self._student, self._seed, self._name = student, seed, item.name
        # All that pytest wants to know of the next item is which of its parents stay set up.
        stays = item.session if last else item.parent
        try:
            run = self._called if self._is_plain(item) else self._set_up_and_called
            error = run(item, stays)
        except AutograderError:
            raise
        except BaseException as broken:  # noqa: BLE001 - what pytest raises on purpose is no Exception
            what = f"the check is broken ({broken!r})"
            raise CheckError(item.nodeid, what, "Mend the check.") from None
        return CheckRun(_ended(self._passed(item), error), Exchanges(student.exchanges))

    def _is_plain(self, item: pytest.Item) -> bool:
        """Tell whether the checks of an item's module ask for nothing but `student` and `rng`."""
        if item.parent not in self._plain:
            fellows = [one for one in self.items if one.parent is item.parent]
            self._plain[item.parent] = all(map(_asks_only_for_ours, fellows))
        return self._plain[item.parent]

    def _called(self, item: Any, _: object) -> BaseException | None:
        """Call a check; pytest's fixtures cost more than most checks, and there are none to set up."""
        assert self._student is not None  # noqa: S101 - set before any item runs
        ours = {"student": lambda: self._student, "rng": self._generator}
        try:
            item.obj(**{name: ours[name]() for name in item.fixturenames})
            self._student.settle()
        except _OUTCOMES as error:
            return error
        return None

    def _set_up_and_called(self, item: Any, stays: pytest.Collector | None) -> BaseException | None:
        """
        Set up, call and tear down an item; return what its call raised, if a check may end so.

        This is what pytest does with an item, apart from its reports: nobody
        reads them, and they cost more than all the rest. Fixtures are made
        anew, as when pytest-rerunfailures runs an item again.
        """
        assert self._student is not None  # noqa: S101 - set before any item runs
        item._initrequest()  # noqa: SLF001 - there is no public name for it
        try:
            item.ihook.pytest_runtest_setup(item=item)
            try:
                item.ihook.pytest_runtest_call(item=item)
                self._student.settle()
            except _OUTCOMES as error:
                return error
        finally:
            item.ihook.pytest_runtest_teardown(item=item, nextitem=stays)
            item._request, item.funcargs = False, None  # noqa: SLF001 - as above
        return None

    def _passed(self, item: pytest.Item) -> CheckResult:
        """Return a check's result if it passes, made once."""
        if item not in self._results:
            self._results[item] = CheckResult(
                name=item.name, claim=claim_of(item), points=points_of(item), outcome=Outcome.PASSED
            )
        return self._results[item]


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


def _asks_only_for_ours(item: pytest.Item) -> bool:
    """Tell whether calling an item's function is all that pytest would do with it."""
    function = _function(item)
    return (
        inspect.isfunction(function)
        and not function.__code__.co_flags & _NOT_CALLED
        and isinstance(item, pytest.Function)
        and set(item.fixturenames) <= _FIXTURES
        # Overridden by nobody.
        and all(len(item._fixtureinfo.name2fixturedefs[name]) == 1 for name in item.fixturenames)  # noqa: SLF001
        and {mark.name for mark in item.iter_markers()} <= {"points"}
    )


def _function(item: pytest.Item) -> Any:
    return getattr(item, "function", None)


def _ended(passed: CheckResult, error: BaseException | None) -> CheckResult:
    """Return the result of a check whose call raised this, or nothing."""
    result = passed
    match error:
        case None:
            pass
        case StudentMissing():
            what = f"`{error.name}` is not defined."
            result = replace(passed, outcome=Outcome.MISSING, rationale=what)
        case StudentError():
            result = _error(passed, error.class_name)
        case LimitReached():
            what = _STOPPED.get(error.name, f"Your code was stopped by the limit {error.name}.")
            result = replace(passed, outcome=Outcome.LIMIT, rationale=what, error=error.name)
        case WorkerDied():
            what = f"Your code ended the notebook's process ({error.cause})."
            result = replace(passed, outcome=Outcome.DIED, rationale=what, error=error.cause)
        case NotJudged():
            result = replace(passed, outcome=Outcome.NOT_JUDGED, rationale=error.rationale, hint=error.hint)
        case _ if isinstance(error, _WRONG):
            # Only texts made to be shown: any other message may hold hidden numbers.
            rationale, hint = (str(getattr(error, name, "")) for name in ("rationale", "hint"))
            result = replace(passed, outcome=Outcome.FAILED, rationale=rationale, hint=hint)
        case _:
            what = "The result is of a kind that cannot be compared."
            result = replace(passed, outcome=Outcome.FAILED, rationale=what)
    return result


def _error(passed: CheckResult, class_name: str) -> CheckResult:
    if class_name == "MemoryError":
        return replace(passed, outcome=Outcome.LIMIT, rationale=_STOPPED["memory_mib"], error="memory_mib")
    what = f"Your code raised {class_name}."
    if class_name == "NotImplementedError":
        what = "Your code raised NotImplementedError: the cell is not filled in yet."
    return replace(passed, outcome=Outcome.ERROR, rationale=what, error=class_name)
