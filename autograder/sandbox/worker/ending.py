"""How a cell ended: what IPython says of it, which its outputs do not tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell

if TYPE_CHECKING:
    from types import FrameType

    from IPython.core.interactiveshell import ExecutionResult

# What runs each statement of a cell, and what an expression's value goes through.
_RUN_CODE, _SHOW = InteractiveShell.run_code.__code__, DisplayHook.__call__.__code__
_NUMBERS = (bool, int, float)
_MAX_BITS = 64
_MAX_NAME = 200


@dataclass(slots=True)
class Ending:
    """
    How a cell ended.

    Parameters
    ----------
    error : str
        Class of the exception that ended it; empty if there was none.
    results, extra_results : int
        How many values its own expressions have shown, and how many were
        passed off as such by code that it called.
    value : bool, int, float or None
        The last value that an expression of its own has shown, if it is a number.
    value_type : str
        Name of that value's class.
    reached : bool
        True if a test cell has come to its end; of other cells it is not known.
    """

    error: str = ""
    results: int = 0
    extra_results: int = 0
    value: float | None = None
    value_type: str = ""
    reached: bool = False

    def show(self, value: object, *, is_own: bool) -> None:
        """Note a value that is shown."""
        if not is_own:
            self.extra_results += 1
            return
        self.results += 1
        self._note(value)

    def reach(self, value: object = None) -> object:
        """Note that a test cell comes to its end, with the value of its last expression, and return that."""
        self.reached = True
        if value is not None:
            self._note(value)
        return value

    def end(self, outcome: ExecutionResult) -> None:
        """Note how IPython says that it ended."""
        error = outcome.error_before_exec or outcome.error_in_exec
        self.error = "" if error is None else type(error).__name__[:_MAX_NAME]

    def _note(self, value: object) -> None:
        self.value_type = type(value).__name__[:_MAX_NAME]
        number: Any = value.item() if isinstance(value, np.generic) else value
        is_short = type(number) in _NUMBERS and (type(number) is not int or number.bit_length() <= _MAX_BITS)
        self.value = number if is_short else None


def is_shown_by_cell(shower: FrameType) -> bool:
    """
    Return whether a value is shown by a statement of the cell that runs, not by what it calls.

    Parameters
    ----------
    shower : frame
        What is showing the value: IPython's display hook, or who pretends to be it.
    """
    # The statement itself is between the two.
    frame = shower.f_back and shower.f_back.f_back
    if shower.f_code is not _SHOW or frame is None or frame.f_code is not _RUN_CODE:
        return False
    # A cell that is run inside a cell is called by it.
    above = frame.f_back
    while above is not None and above.f_code is not _RUN_CODE:
        above = above.f_back
    return above is None
