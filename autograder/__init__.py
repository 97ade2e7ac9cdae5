"""
An auto-graded exercise kit on multi-head attention, and its grader.

The door is lazy: importing the package imports nothing else, so that the
process that runs student code holds no more of the kit than it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.checks.kernel import run_checks
    from autograder.course.course import Course
    from autograder.errors import AutograderError
    from autograder.grader.grader import Grader
    from autograder.results import CellResult, CheckResult, NotebookResult, Outcome, SubmissionResult

__all__ = [
    "AutograderError",
    "CellResult",
    "CheckResult",
    "Course",
    "Grader",
    "NotebookResult",
    "Outcome",
    "SubmissionResult",
    "run_checks",
]

_HOMES = {
    "AutograderError": "autograder.errors",
    "CellResult": "autograder.results",
    "CheckResult": "autograder.results",
    "Course": "autograder.course.course",
    "Grader": "autograder.grader.grader",
    "NotebookResult": "autograder.results",
    "Outcome": "autograder.results",
    "SubmissionResult": "autograder.results",
    "run_checks": "autograder.checks.kernel",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
