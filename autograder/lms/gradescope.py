"""Gradescope's ``results.json``: what an autograder there says of one submission."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from autograder.lms.model import rounded
from autograder.lms.texts import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

TEST_PLACES = 5
"""Decimals of the score of a test; the noise of floats begins far behind them."""


class Visibility(StrEnum):
    """When students see a test, or all of the results."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    """Never. While any test is hidden, students do not see the total either."""
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"


class Markup(StrEnum):
    """What a text is written in."""

    TEXT = "text"
    MARKDOWN = "md"
    HTML = "html"
    SIMPLE = "simple_format"
    ANSI = "ansi"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradescopeTest:
    """
    One line of the results: a check, a grade cell or a notebook.

    Parameters
    ----------
    name : str
        What students read.
    max_score : Decimal
        What it could earn.
    score : Decimal or None
        What it earned; None while nobody can tell. Then nothing is said of its points.
    number : str
        Where it stands, as in "1.2"; empty for none.
    passed : bool or None
        None to let Gradescope tell from the score.
    output : str
        What was found; nothing that a student must not see if the test is visible.
    markup : Markup
        What the output is written in.
    visibility : Visibility
        When students see it.
    tags : tuple of str
        Anything, for other programs.
    """

    name: str
    max_score: Decimal
    score: Decimal | None
    number: str = ""
    passed: bool | None = None
    output: str = ""
    markup: Markup = Markup.TEXT
    visibility: Visibility = Visibility.VISIBLE
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GradescopeResults:
    """
    What Gradescope is told of one submission.

    Parameters
    ----------
    score : Decimal or None
        The whole score; it counts, and not the sum of the tests. None if every test has one.
    tests : tuple of GradescopeTest
        In the order in which they are shown.
    output : str
        What is shown above all tests.
    markup : Markup
        What that is written in.
    visibility : Visibility
        When students see anything of this.
    execution_time_s : float or None
        Seconds that grading took.
    extra_data : mapping of str to object
        JSON for other programs; Gradescope keeps it with the submission.
    """

    score: Decimal | None
    tests: tuple[GradescopeTest, ...] = ()
    output: str = ""
    markup: Markup = Markup.TEXT
    visibility: Visibility = Visibility.VISIBLE
    execution_time_s: float | None = None
    extra_data: Mapping[str, Any] | None = None


def results_json(results: GradescopeResults) -> bytes:
    """
    Return a ``results.json``.

    What the autograder printed is shown to instructors alone: students could read
    of hidden checks in it.

    Parameters
    ----------
    results : GradescopeResults
        What Gradescope is told.

    Returns
    -------
    bytes
        JSON in ASCII, so in UTF-8, with a line end. No NaN, no infinity, no noise of floats.

    Raises
    ------
    ValueError
        If a number is not finite, or there is no score and not every test has one:
        Gradescope would show that the autograder has failed.
    """
    if results.score is None and not (results.tests and all(one.score is not None for one in results.tests)):
        msg = "Gradescope needs a score, or a score of every test"
        raise ValueError(msg)
    record: dict[str, Any] = {
        "visibility": results.visibility.value,
        "stdout_visibility": Visibility.HIDDEN.value,
        "tests": [_test(one) for one in results.tests],
    }
    if results.score is not None:
        record["score"] = _number(rounded(results.score))
    if results.output:
        record |= {"output": storable(results.output), "output_format": results.markup.value}
    if results.execution_time_s is not None:
        record["execution_time"] = round(results.execution_time_s, 3)
    if results.extra_data:
        record["extra_data"] = dict(results.extra_data)
    return (json.dumps(record, indent=1, allow_nan=False) + "\n").encode("ascii")


def failure_json(output: str) -> bytes:
    """
    Return a ``results.json`` without any score: Gradescope shows that the autograder has failed.

    Parameters
    ----------
    output : str
        Why, for students too, as text.

    Returns
    -------
    bytes
        JSON in ASCII. It is never taken for a zero.
    """
    record = {
        "visibility": Visibility.VISIBLE.value,
        "stdout_visibility": Visibility.HIDDEN.value,
        "output": storable(output),
        "output_format": Markup.TEXT.value,
    }
    return (json.dumps(record, indent=1) + "\n").encode("ascii")


def _test(test: GradescopeTest) -> dict[str, Any]:
    record: dict[str, Any] = {"name": storable(test.name), "visibility": test.visibility.value}
    if test.number:
        record["number"] = test.number
    if test.score is not None:
        record |= {
            "score": _number(_test_points(test.score)),
            "max_score": _number(_test_points(test.max_score)),
        }
    if test.passed is not None:
        record["status"] = "passed" if test.passed else "failed"
    if test.output:
        record |= {"output": storable(test.output), "output_format": test.markup.value}
    if test.tags:
        record["tags"] = [storable(tag) for tag in test.tags]
    return record


def _test_points(points: Decimal) -> Decimal:
    if not points.is_finite():
        msg = f"{points} is no score"
        raise ValueError(msg)
    return points.quantize(Decimal(1).scaleb(-TEST_PLACES), ROUND_HALF_UP)


def _number(points: Decimal) -> int | float:
    """Return a JSON number that has no more decimals than the points."""
    return int(points) if points == points.to_integral_value() else float(points)
