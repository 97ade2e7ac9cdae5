"""How a cell ended, as its own process tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from autograder.sandbox.outputs import clean_outputs

_MAX_NAME = 200
_MAX_RESULTS = 1_000_000
_MAX_BITS = 64
_UNTOLD = "UntoldError"


@dataclass(frozen=True, slots=True)
class CellRun:
    """
    One run of one cell.

    It comes from the process in which student code runs: a student who breaks
    into that process can make it say anything. It is well formed in any case.

    Parameters
    ----------
    outputs : list of dict
        What it shows, cleaned, in nbformat's form.
    error : str
        Class of the exception that ended it, WorkerDied or LimitReached if
        its process ended with it; empty if it ran to its end. It is what the
        shell met, whatever the outputs show.
    results : int
        How many values its own expressions have shown.
    extra_results : int
        How many values code that it called has passed off as such.
    value : bool, int, float or None
        The last value that an expression of its own has shown, as a Python
        number; None if there is none, or if it is no number (of 64 bits).
    value_type : str
        Name of that value's class; empty if no value was shown.
    reached : bool
        True if a test cell has come to its end. Of other cells it is not known.
    stopped : str
        Name of the limit that stopped it, or "died" if it ended its process;
        empty if neither. Only the grader's side says so.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""
    results: int = 0
    extra_results: int = 0
    value: float | None = None
    value_type: str = ""
    reached: bool = False
    stopped: str = ""

    @classmethod
    def told(cls, answer: dict[str, Any]) -> Self:
        """
        Return what a process tells of a cell.

        Parameters
        ----------
        answer : dict
            Its answer; anything may be in it. If it does not say whether an
            exception ended the cell, one did.
        """
        outputs = clean_outputs(answer.get("outputs"))
        error = answer.get("error")
        if not isinstance(error, str):
            error = _UNTOLD
        value, value_type = answer.get("value"), answer.get("value_type")
        return cls(
            outputs,
            _name(error),
            _count(answer.get("results")),
            _count(answer.get("extra_results")),
            value if _is_number(value) else None,
            _name(value_type) if isinstance(value_type, str) else "",
            answer.get("reached") is True,
        )


def _name(text: str) -> str:
    return text[:_MAX_NAME].encode("utf-8", "replace").decode("utf-8")


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= _MAX_RESULTS else 0


def _is_number(value: object) -> bool:
    if type(value) is int:
        return value.bit_length() <= _MAX_BITS
    return type(value) in {bool, float}
