"""
Which known misconception gives the very numbers that a student's code gave.

When a check fails, what it asked the student's code is asked again of each
misconception that loses in the same cell, in this trusted process. If all the
answers agree, the mistake has a name. The student's code is not run again.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.results import CheckResult, Outcome
from autograder.sandbox.worker.dispatcher import Dispatcher
from autograder.wire.codec import Handle, decode
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from autograder.checks.plugin import CheckRun
    from autograder.checks.student import Exchange

_RTOL, _ATOL = 1e-6, 1e-8
_LONGER, _LONGER_BYTES = 4, 4096
# float32 carries seven digits; a chain of products keeps about four.
_RTOL_SINGLE, _ATOL_SINGLE = 1e-3, 1e-4
_WITH_NUMBERS = {Outcome.PASSED, Outcome.FAILED}
_EXPLAINABLE = {Outcome.FAILED, Outcome.ERROR}


@dataclass(frozen=True, slots=True)
class Misconception:
    """
    A known wrong solution, ready to be asked.

    Parameters
    ----------
    name : str
        Its name in the course.
    claim : str
        The sentence that names the mistake.
    hint : str
        What to look at next.
    start : callable
        Returns a new namespace with the names that it defines, so that what
        one replay leaves behind does not reach the next.
    """

    name: str
    claim: str
    hint: str
    start: Callable[[], Mapping[str, Any]]


def diagnose(runs: Sequence[CheckRun], known: Sequence[Misconception]) -> list[CheckResult]:
    """
    Name the misconception behind each failed check of a test cell, where one fits.

    Parameters
    ----------
    runs : sequence of CheckRun
        The cell's checks as they went.
    known : sequence of Misconception
        Those that lose in this cell.

    Returns
    -------
    list of CheckResult
        The results in order; a failed check that a misconception explains
        carries its name, and its sentence and hint as the hint.
    """
    # Few exchanges are soon asked again, and leave few candidates for the rest.
    failed = sorted(
        (run for run in runs if run.result.outcome in _EXPLAINABLE and run.exchanges),
        key=lambda run: len(run.exchanges),
    )
    fitting: dict[int, list[Misconception]] = {}
    likely: list[Misconception] = []
    for run in failed:
        found = [one for one in likely if _explains(one, run, runs)]
        if not found:
            found = [one for one in known if one not in likely and _explains(one, run, runs)]
        likely = found or likely
        fitting[id(run)] = found
    return [_explained(run, runs, fitting.get(id(run), [])) for run in runs]


def _explained(run: CheckRun, runs: Sequence[CheckRun], fitting: list[Misconception]) -> CheckResult:
    if not fitting:
        return run.result
    best = fitting[0]
    if len(fitting) > 1:
        # Of several that explain this check, the one that agrees most on the whole cell.
        best = max(fitting, key=lambda one: sum(_gives(one, other.exchanges) for other in runs))
    return replace(run.result, misconception=best.name, hint=f"{best.claim} {best.hint}".strip())


def _explains(misconception: Misconception, run: CheckRun, runs: Sequence[CheckRun]) -> bool:
    if not _gives(misconception, run.exchanges):
        return False
    if run.result.outcome is Outcome.FAILED:
        return True
    # That both raise says little: an empty cell raises too. Some numbers must agree as well.
    numbers = (other for other in runs if other.result.outcome in _WITH_NUMBERS)
    return any(_gives(misconception, other.exchanges) for other in numbers)


def _gives(misconception: Misconception, exchanges: Sequence[Exchange]) -> bool:
    dispatcher = Dispatcher(misconception.start())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return all(_same_answer(dispatcher, exchange) for exchange in exchanges)


def _same_answer(dispatcher: Dispatcher, exchange: Exchange) -> bool:
    try:
        answer = dispatcher.answer(exchange.request)
        if len(exchange.answer) > _LONGER * len(answer) + _LONGER_BYTES:
            # Too long to be alike, and perhaps made to take long to read.
            return False
        theirs, ours = decode(exchange.answer), decode(answer)
    except (WireError, LookupError):
        # A request may speak of an object that the misconception never made.
        return False
    return _alike(theirs, ours)


def _alike(theirs: object, ours: object) -> bool:
    if isinstance(ours, np.ndarray):
        return isinstance(theirs, np.ndarray) and _close(theirs, ours)
    if isinstance(ours, (tuple, list)):
        return (
            isinstance(theirs, (tuple, list)) and len(theirs) == len(ours) and all(map(_alike, theirs, ours))
        )
    if isinstance(ours, dict):
        return (
            isinstance(theirs, dict)
            and theirs.keys() == ours.keys()
            and all(_alike(theirs[key], ours[key]) for key in ours)
        )
    if isinstance(ours, Handle):
        return isinstance(theirs, Handle) and theirs.number == ours.number
    if isinstance(ours, (float, np.floating)):
        return isinstance(theirs, (float, np.floating)) and _close_numbers(float(theirs), float(ours))
    return type(theirs) is type(ours) and bool(theirs == ours)


def _close(theirs: np.ndarray[Any, Any], ours: np.ndarray[Any, Any]) -> bool:
    if theirs.shape != ours.shape:
        return False
    # Rounding hides behind a loose tolerance, so it is for those who compute in float32.
    single = theirs.dtype.type is np.float32 and ours.dtype.kind == "f"
    rtol, atol = (_RTOL_SINGLE, _ATOL_SINGLE) if single else (_RTOL, _ATOL)
    return bool(np.allclose(theirs, ours, rtol=rtol, atol=atol, equal_nan=True))


def _close_numbers(theirs: float, ours: float) -> bool:
    if math.isnan(theirs) or math.isnan(ours):
        return math.isnan(theirs) and math.isnan(ours)
    return math.isclose(theirs, ours, rel_tol=_RTOL, abs_tol=_ATOL)
