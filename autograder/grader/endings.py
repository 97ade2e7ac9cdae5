"""What the end of a test cell is worth: a number is a score, and what only looks like one is none."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from autograder.sandbox.cells import CellRun

if TYPE_CHECKING:
    Outputs = list[dict[str, Any]]

DECIMALS = Decimal("1e-9")
"""A score is rounded to this; what is nearer to nothing or to all points is that."""

NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf(?:inity)?|True|False)"
# A number in quotes or in a call, such as '0.5' and Decimal('0.5').
NUMBER_INSIDE = re.compile(rf"(?:[\w.]+\()?\s*['\"]?\s*{NUMBER}\s*['\"]?(?:,\s*dtype=[\w.']+)?\)?")
# A number as Python or numpy shows it.
SHOWN_NUMBER = re.compile(rf"(?:np\.\w+\()?({NUMBER})\)?|np\.(True|False)_")
TRUTHS = {"True": True, "False": False}
# Classes of numbers that are none of Python's or numpy's plain ones.
OTHER_NUMBERS = {"int", "float", "complex", "complex64", "complex128", "longdouble", "Decimal", "Fraction"}

REMEDY = "End the cell in a plain number between 0 and its points, and grade again."


def score_of(run: CellRun, points: Decimal) -> Decimal | str:
    """
    Return what a cell that ran to its end earns.

    Parameters
    ----------
    run : CellRun
        How it ended.
    points : Decimal
        What it is worth.

    Returns
    -------
    Decimal or str
        A score inside [0, points]; or, if the value of its last expression
        may have been meant as a score and is none, why, and what to do.
    """
    value = run.value
    if value is None:
        text = _text(run)
        is_inside = NUMBER_INSIDE.fullmatch(text) is not None
        if not is_inside and run.value_type not in OTHER_NUMBERS:
            return points
        shown, problem = text if is_inside else f"a {run.value_type}", "which is no plain number"
    elif isinstance(value, bool) or not math.isfinite(value):
        shown, problem = str(value), "which is no score"
    else:
        score = Decimal(repr(value))
        if abs(score - points) <= DECIMALS:
            return points
        if -DECIMALS <= score <= points:
            return max(score, Decimal(0)).quantize(DECIMALS).normalize()
        shown, problem = str(value), f"which is not between 0 and {points}"
    return f"its last line gives {shown}, {problem}. {REMEDY}"


def score_shown(outputs: Outputs, points: Decimal) -> Decimal | str:
    """
    Return what a cell earns that came to its end in a Jupyter kernel.

    Parameters
    ----------
    outputs : list of dict
        What it showed there, in nbformat's form.
    points : Decimal
        What it is worth.

    Returns
    -------
    Decimal or str
        As of `score_of`.
    """
    results = [output for output in outputs if output["output_type"] == "execute_result"]
    text = str(results[-1]["data"].get("text/plain", "")) if results else ""
    number = SHOWN_NUMBER.fullmatch(text)
    value = None
    if number is not None:
        word = number[1] or number[2]
        value = TRUTHS[word] if word in TRUTHS else float(word)
    return score_of(CellRun(outputs, value=value, value_type="object"), points)


def shows_number(output: dict[str, Any]) -> bool:
    """Tell whether an output is a value that looks like a number."""
    is_result = output["output_type"] == "execute_result"
    return is_result and NUMBER_INSIDE.fullmatch(str(output["data"].get("text/plain", ""))) is not None


def _text(run: CellRun) -> str:
    """Return the last value that a cell shows, as text; empty if it shows none of its own."""
    results = [output for output in run.outputs if output["output_type"] == "execute_result"]
    return str(results[-1]["data"].get("text/plain", "")) if results and run.value_type else ""
