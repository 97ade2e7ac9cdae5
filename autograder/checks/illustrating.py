"""
Asks student code what it gives for public inputs, for the pictures of the feedback.

An assignment's folder of checks may hold a module ``pictures.py`` with
``PICTURES``: by grade_id of a test cell a function that takes a `Student` and
returns illustrations. Nothing here changes a score, and nothing that student
code does here is an error of ours.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.checks.plugin import UNFIT
from autograder.checks.student import Student, StudentError, StudentMissing
from autograder.checks.suite import CHECKS
from autograder.illustration import (
    MOST_COLUMNS,
    MOST_ILLUSTRATIONS,
    MOST_NUMBERS,
    Illustration,
    Kind,
    Panels,
    shown,
)
from autograder.results import Outcome
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.checks.suite import Names
    from autograder.results import CellResult

    Draw = Callable[[Student], tuple[Illustration, ...]]

_ENDED = (StudentError, StudentMissing, LimitReached, WorkerDied, WireError)
"""How a call of student code may end without a result."""

_DIGITS = 3
_PANEL_AXES = 3
_NOT_SHOWN = f"gave no array with at most {MOST_NUMBERS} numbers"
_NO_NUMBER = "gave no number"
_NOT_FILLED_IN = "NotImplementedError"


def illustrated(
    assignment: str, hidden_check: str | None, cell: CellResult, names: Names
) -> tuple[Illustration, ...]:
    """
    Return the pictures of a graded cell, with what the student's functions give.

    Parameters
    ----------
    assignment : str
        The assignment.
    hidden_check : str or None
        The name of the cell's hidden checks, if it has any.
    cell : CellResult
        The cell, graded. If it lost no point, or a limit stopped it, nothing is asked.
    names : Names
        The notebook's names. The calls may change what stands behind them,
        so nothing can be judged with them afterwards.

    Returns
    -------
    tuple of Illustration
        May be empty.
    """
    draw = _pictures(assignment).get(hidden_check) if hidden_check and _worth_asking(cell) else None
    if not hidden_check or draw is None:
        return ()
    try:
        names.scope(hidden_check)
        with np.errstate(all="ignore"):
            return draw(Student(names.request))[:MOST_ILLUSTRATIONS]
    except (*_ENDED, *UNFIT):
        return ()


def _worth_asking(cell: CellResult) -> bool:
    outcomes = {check.outcome for check in cell.checks}
    blank = all(check.error == _NOT_FILLED_IN for check in cell.checks)
    return not (blank or Outcome.LIMIT in outcomes or outcomes <= {Outcome.PASSED, Outcome.MISSING})


def _pictures(assignment: str) -> dict[str, Draw]:
    """Return the functions that illustrate the cells of an assignment; empty if it has none."""
    if not (CHECKS / assignment / "pictures.py").is_file():
        return {}
    found: dict[str, Draw] = importlib.import_module(f"autograder.checks.{assignment}.pictures").PICTURES
    return found


def picture(kind: Kind, asked: str, call: Callable[[], Any], right: Any, **details: Any) -> Illustration:
    """
    Return one call's illustration.

    Parameters
    ----------
    kind : Kind
        What the numbers are.
    asked : str
        The call, as a student would write it.
    call : callable
        Makes the call and returns the result.
    right : array_like
        What is right, up to three axes.
    **details
        The other fields of `Illustration`.

    Returns
    -------
    Illustration
        With the result, or why it cannot be drawn.
    """
    expected = panels(np.asarray(right), kind)
    result, problem = answer(call)
    found: Panels = ()
    if not problem:
        found = panels(result, kind)
        problem = "" if found else (_NO_NUMBER if kind is Kind.COUNT else _NOT_SHOWN)
    shape = np.shape(result) if isinstance(result, np.ndarray) and found else ()
    return Illustration(
        kind=kind, asked=asked, right=expected, theirs=found, shape=shape, problem=problem, **details
    )


def answer(call: Callable[[], Any]) -> tuple[Any, str]:
    """
    Make a call of student code.

    Parameters
    ----------
    call : callable
        The call.

    Returns
    -------
    result : object
        What it gave, or None.
    problem : str
        How it ended instead; empty if there is a result.
    """
    try:
        return call(), ""
    except StudentError as error:
        return None, f"raised {error.class_name}"
    except StudentMissing as error:
        return None, f"needs `{error.name}`, which is not defined"
    except LimitReached:
        return None, "took too long"
    except (WorkerDied, WireError, *UNFIT):
        return None, "gave no result"


def panels(value: Any, kind: Kind) -> Panels:
    """
    Return numbers by panel, row and column.

    Parameters
    ----------
    value : object
        An array, or one number; anything, when it comes from student code.
    kind : Kind
        What the numbers are.

    Returns
    -------
    Panels
        Empty if it cannot be drawn: no numbers, too many, or too many axes.
    """
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if kind is Kind.COUNT and is_number:
        return (((shown(value if isinstance(value, int) else float(value), _DIGITS),),),)
    if (
        not isinstance(value, np.ndarray)
        or value.dtype.kind not in "iuf"
        or not 0 < value.size <= MOST_NUMBERS
    ):
        return ()
    if value.ndim > _PANEL_AXES or value.ndim == 0 or value.shape[-1] > MOST_COLUMNS:
        return ()
    array = value.reshape((1,) * (_PANEL_AXES - value.ndim) + value.shape).astype(np.float64)
    return tuple(tuple(tuple(shown(x, _DIGITS) for x in row) for row in panel) for panel in array.tolist())
