"""The table of checks that people see under a test cell."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from autograder.checks.outcomes import check_outcome
from autograder.results import Outcome

if TYPE_CHECKING:
    from decimal import Decimal

    from autograder.results import CellResult, CheckResult

_MARKS = dict.fromkeys(Outcome, "✗") | {Outcome.PASSED: "✓", Outcome.NOT_JUDGED: "–"}


def number(points: Decimal) -> str:
    """Return points without trailing zeros: "2", "0.5"."""
    return f"{points.normalize():f}"


def report_text(cell: CellResult) -> str:
    """
    Return a test cell's report as plain text.

    Parameters
    ----------
    cell : CellResult
        The cell, graded.

    Returns
    -------
    str
        A line for the cell, a line for each check, and what was found where one failed.
        Of a cell that could not be graded one line that says why.
    """
    if cell.not_graded:
        return f"{cell.grade_id}: could not be graded: {cell.not_graded}"
    lines = [f"{cell.grade_id}: {number(_score(cell))} of {number(cell.max_score)} points"]
    lines += [f"  A known mistake: {sentence}" for sentence in _known_mistakes(cell)]
    for check in cell.checks:
        lines.append(
            f"  {_MARKS[check.outcome]} {check.claim}  [{number(check.earned)}/{number(check.points)}]"
        )
        lines += [f"      {text}" for text in _advice(check)]
    return "\n".join(lines)


def report_html(cell: CellResult) -> str:
    """
    Return a test cell's report as HTML that needs no style sheet.

    Parameters
    ----------
    cell : CellResult
        The cell, graded.

    Returns
    -------
    str
        A table with one row a check; of a cell that could not be graded a line that says why.
    """
    if cell.not_graded:
        return f"<strong>Could not be graded</strong>: {html.escape(cell.not_graded)}"
    rows = []
    for check in cell.checks:
        advice = "".join(f"<br><em>{html.escape(text)}</em>" for text in _advice(check))
        rows.append(
            f"<tr><td>{_MARKS[check.outcome]}</td><td>{html.escape(check.claim)}{advice}</td>"
            f"<td>{number(check.earned)} / {number(check.points)}</td></tr>"
        )
    title = f"<strong>{number(_score(cell))} of {number(cell.max_score)} points</strong>"
    title += "".join(f"<p>A known mistake: {html.escape(sentence)}</p>" for sentence in _known_mistakes(cell))
    return f"{title}<table><tbody>{''.join(rows)}</tbody></table>"


def report_output(cell: CellResult) -> dict[str, Any]:
    """Return a test cell's report as an nbformat output."""
    data = {"text/html": report_html(cell), "text/plain": report_text(cell)}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def score_output(cell: CellResult) -> dict[str, Any]:
    """Return a test cell's score as the nbformat output that nbgrader reads: a plain float."""
    data = {"text/plain": repr(float(_score(cell)))}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def _score(cell: CellResult) -> Decimal:
    score = cell.auto_score
    assert score is not None  # noqa: S101 - a test cell is never graded by hand, and this one was graded
    return score


def _advice(check: CheckResult) -> list[str]:
    if check.outcome is Outcome.PASSED:
        return []
    outcome = check_outcome(check)
    found = f"{outcome[:1].upper()}{outcome[1:]}. {check.rationale}".rstrip()
    # A misconception's hint stands above, once for all the checks that it fails.
    return [text for text in (found, "" if check.misconception else check.hint) if text]


def _known_mistakes(cell: CellResult) -> list[str]:
    return list(dict.fromkeys(check.hint for check in cell.checks if check.misconception))
