"""How a check or a cell ended, in words that a student knows; a limit is told by what it limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.results import Outcome

if TYPE_CHECKING:
    from autograder.results import CellResult, CheckResult

OUTCOMES = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "wrong result",
    Outcome.ERROR: "exception",
    Outcome.LIMIT: "stopped by a limit",
    Outcome.DIED: "process ended",
    Outcome.MISSING: "not defined",
    Outcome.NOT_JUDGED: "not judged",
    Outcome.MANUAL: "graded by hand",
    Outcome.NOT_GRADED: "could not be graded",
}
LIMITS = {
    "wall_time_s": "stopped by the time limit",
    "notebook_time_s": "stopped by the notebook's time limit",
    "cpu_time_s": "stopped by the limit on processor time",
    "memory_mib": "stopped by the memory limit",
    "output_kib": "stopped by the limit on output",
    "file_mib": "stopped by the limit on files",
}
"""What to call an outcome by the limit, as `autograder.sandbox.limits.Limits` names them."""


def check_outcome(check: CheckResult) -> str:
    """Return how a check ended, in words: "wrong result", "stopped by the memory limit"."""
    if check.outcome is Outcome.LIMIT:
        return LIMITS.get(check.error, OUTCOMES[Outcome.LIMIT])
    return OUTCOMES[check.outcome]


def cell_outcome(cell: CellResult) -> str:
    """Return how a graded cell ended, in words: as the worst of its checks."""
    if cell.outcome in {Outcome.MANUAL, Outcome.NOT_GRADED}:
        return OUTCOMES[cell.outcome]
    worst = (check_outcome(check) for check in cell.checks if check.outcome is cell.outcome)
    return next(worst, OUTCOMES[cell.outcome])
