"""
Test cells without hidden checks, judged as nbgrader judges them: by asserts, or by a number at their end.

Such tests run where student code runs. Where some of their lines are hidden,
the notebook runs twice, each time in a new process: once without those lines,
which gives everything that anybody is shown, and once with them, of which
nothing is kept but how each test cell ended. So no output, traceback or later
cell can tell what was hidden.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.checks.conversation import class_shown
from autograder.checks.symptoms import of_exception
from autograder.course.released import Kind, grade_id_of
from autograder.errors import CheckError
from autograder.findings import Evidence, EvidenceKind, Severity
from autograder.grader.endings import REMEDY, score_of, shows_number
from autograder.results import CellResult, CheckResult, Outcome
from autograder.sandbox.session import DIED, CodeCell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from autograder.course.released import ReleasedCell, ReleasedNotebook
    from autograder.notebook import Cell
    from autograder.sandbox.cells import CellRun

CLAIM = "The tests in this cell hold."
CLAIM_HIDDEN = "The tests of this cell hold, those that you see and those that you do not."

NO_SCORE = f"with its hidden lines, its last line gives something that is no score. {REMEDY}"

MAX_MESSAGE = 300
"""Characters of an assertion's message that are told."""

RUN_CHECKS = re.compile(r"^[^#\n]*\brun_checks\(", re.MULTILINE)
ASSERT = re.compile(r"^\s*assert\b", re.MULTILINE)
FRAME = re.compile(r"Cell In\[[0-9]{1,6}\], line ([0-9]{1,6})\b")

LIMITS = {"WallTimeExceeded": "wall_time_s", "MemoryError": "memory_mib"}
"""The limit that an exception stands for."""
LIMIT_TOLD = {
    "WallTimeExceeded": "The cell took too long and was stopped. Is there a loop that never ends?",
    "MemoryError": "Your code asked for more memory than it may. Is an array larger than you think?",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """
    The classic test cells of a notebook after grading.

    Parameters
    ----------
    results : mapping of str to CellResult
        For each its score, or why there is none, by grade_id.
    evidence : tuple of Evidence
        What looks like forged scores.
    """

    results: Mapping[str, CellResult]
    evidence: tuple[Evidence, ...] = ()


def is_classic(cell: ReleasedCell) -> bool:
    """Tell whether a cell is a test cell without hidden checks."""
    return cell.kind is Kind.TEST and cell.hidden_check is None


def check_cell(cell: ReleasedCell) -> None:
    """
    Do nothing if all tests of a test cell would count.

    Parameters
    ----------
    cell : ReleasedCell
        A test cell.

    Raises
    ------
    CheckError
        If it calls `run_checks` where students see it, or has hidden asserts
        beside its hidden checks.
    """
    visible = cell.rules.visible(cell.source)
    if RUN_CHECKS.search(visible):
        what = (
            "its call of run_checks is not among its hidden lines, so that it would run beside student code"
        )
        remedy = "Put it between lines with {} and {}.".format(*cell.rules.hidden)
        raise CheckError(cell.grade_id, what, remedy)
    if cell.hidden_check and len(ASSERT.findall(cell.source)) > len(ASSERT.findall(visible)):
        what = "it has hidden asserts beside its hidden checks, and they would not count"
        remedy = f"Move them into the module {cell.hidden_check}.py, or into a test cell of their own."
        raise CheckError(cell.grade_id, what, remedy)


# --------------------------------------------------------------- two passes


def hides_lines(cell: ReleasedCell) -> bool:
    """Tell whether a locked cell has lines that students do not get, and that have to run all the same."""
    return (
        cell.kind.locked
        and cell.cell_type == "code"
        and cell.hidden_check is None
        and cell.rules.visible(cell.source) != cell.source
    )


def shown_cells(code: Sequence[Cell], released: ReleasedNotebook) -> list[CodeCell]:
    """
    Return the code cells to run for everything that is shown: without hidden lines.

    Parameters
    ----------
    code : sequence of dict
        The code cells of a repaired notebook.
    released : ReleasedNotebook
        The notebook it was made from.

    Returns
    -------
    list of CodeCell
        One for each; after those with hidden checks the names are remembered.
    """
    visible = released.rules.visible
    tests = {cell.grade_id: cell.hidden_check or "" for cell in released.graded if cell.kind is Kind.TEST}
    return [
        CodeCell(visible(cell["source"]), tests.get(name, ""), graded=name in tests)
        for cell, name in ((cell, grade_id_of(cell)) for cell in code)
    ]


def judged_cells(code: Sequence[Cell], released: ReleasedNotebook) -> list[CodeCell]:
    """
    Return the code cells to run with their hidden lines, but for calls of hidden checks.

    Parameters
    ----------
    code : sequence of dict
        The code cells of a repaired notebook.
    released : ReleasedNotebook
        The notebook it was made from.

    Returns
    -------
    list of CodeCell
        One for each; none if no cell hides lines, so that one run tells all.
    """
    hiding = {cell.grade_id for cell in released.cells if hides_lines(cell)}
    if not hiding:
        return []
    visible = released.rules.visible
    tests = {cell.grade_id for cell in released.graded if cell.kind is Kind.TEST}
    return [
        CodeCell(cell["source"] if name in hiding else visible(cell["source"]), graded=name in tests)
        for cell, name in ((cell, grade_id_of(cell)) for cell in code)
    ]


def without_part_scores(
    released: ReleasedNotebook, names: Sequence[str], outputs: Sequence[list[dict[str, Any]]]
) -> list[list[dict[str, Any]]]:
    """
    Return what cells show without scores that only their visible lines give.

    Parameters
    ----------
    released : ReleasedNotebook
        What was handed out.
    names : sequence of str
        The grade_id of each code cell; empty for one without.
    outputs : sequence of list of dict
        What each of them shows, in nbformat's form.

    Returns
    -------
    list of list of dict
        The same without numbers that would contradict the score.
    """
    partial = {cell.grade_id for cell in released.graded if is_classic(cell) and hides_lines(cell)}
    return [
        [one for one in shown if not (name in partial and shows_number(one))]
        for name, shown in zip(names, outputs, strict=True)
    ]


# ------------------------------------------------------------------ judging


def judge(
    released: ReleasedNotebook, names: Sequence[str], shown: Sequence[CellRun], hidden: Sequence[CellRun]
) -> Judged:
    """
    Return what the classic test cells of a notebook earn.

    Parameters
    ----------
    released : ReleasedNotebook
        What was handed out.
    names : sequence of str
        The grade_id of each code cell; empty for one without.
    shown, hidden : sequence of CellRun
        How each of them ended without its hidden lines, and with them; the
        latter empty if there are none.

    Returns
    -------
    Judged
        For each cell all points if it ran to its end, or the number in which
        it ends; no score if it ends in what only looks like one.
    """
    ends = dict(zip(names, hidden or shown, strict=True))
    public = dict(zip(names, shown, strict=True)) if hidden else {}
    results, evidence = {}, []
    for cell in filter(is_classic, released.graded):
        name = cell.grade_id
        if name not in ends:
            what = "it is no code cell, so that nothing in it can be tested"
            remedy = "Make it one in the source notebook, or a cell that is graded by hand."
            results[name] = _not_graded(cell, f"{what}. {remedy}")
            continue
        results[name] = _judged(cell, ends[name], public.get(name))
        evidence += _forged(cell, ends[name])
    return Judged(results, tuple(evidence))


def _judged(cell: ReleasedCell, run: CellRun, shown: CellRun | None) -> CellResult:
    if run.error or not run.reached:
        return _result(cell, _lost(cell, run, shown))
    score = score_of(run, cell.points)
    if not isinstance(score, str):
        return _result(cell, _earned(cell, score))
    # What was shown beside hidden lines may be those lines, and a student reads the reason.
    return _not_graded(cell, score if shown is None else NO_SCORE)


def _lost(cell: ReleasedCell, run: CellRun, shown: CellRun | None) -> CheckResult:
    """Return the check of a cell that did not run to its end."""
    limit = run.stopped or LIMITS.get(run.error, "")
    if limit:
        what = LIMIT_TOLD.get(run.error) or _sentence(run.outputs[0]["evalue"])
        if limit == DIED:
            return _check(cell, Outcome.DIED, what)
        return _check(cell, Outcome.LIMIT, what, error=limit)
    error = class_shown(run.error) if shown is not None else run.error
    outcome = Outcome.FAILED if error in {"AssertionError", ""} else Outcome.ERROR
    hint = of_exception(error) if outcome is Outcome.ERROR else ""
    if not error:
        what = "The cell did not come to its end."
    elif shown is None or shown.error:
        what = _told(cell.rules.visible(cell.source), shown or run)
    elif outcome is Outcome.FAILED:
        what = "A test that is not shown fails."
    else:
        what = f"Your code raised {error} in a test that is not shown."
    return _check(cell, outcome, what, error=error, hint=hint)


def _earned(cell: ReleasedCell, score: Decimal) -> CheckResult:
    if score == cell.points:
        return _check(cell, Outcome.PASSED)
    what = (
        f"The tests in this cell give {'a part of its' if score else 'no'} points. Read what the cell prints."
    )
    return _check(cell, Outcome.FAILED, what, score=score)


def _check(cell: ReleasedCell, outcome: Outcome, rationale: str = "", **more: Any) -> CheckResult:
    claim = CLAIM_HIDDEN if hides_lines(cell) else CLAIM
    return CheckResult(
        name=cell.grade_id, claim=claim, points=cell.points, outcome=outcome, rationale=rationale, **more
    )


def _result(cell: ReleasedCell, check: CheckResult) -> CellResult:
    return CellResult(grade_id=cell.grade_id, max_score=cell.points, checks=(check,))


def _not_graded(cell: ReleasedCell, reason: str) -> CellResult:
    return CellResult(grade_id=cell.grade_id, max_score=cell.points, not_graded=reason)


def _forged(cell: ReleasedCell, run: CellRun) -> list[Evidence]:
    found = []
    if run.extra_results:
        what = "code that it tests showed a value as if it were the cell's score"
        found.append((Severity.DOUBT, what))
    if not run.error and not run.reached:
        found.append((Severity.ATTACK, "it was ended before its last line, and no exception was told"))
    return [
        Evidence(kind=EvidenceKind.FORGED_SCORE, severity=severity, where=cell.grade_id, detail=what)
        for severity, what in found
    ]


# --------------------------------------------------------- what outputs tell


def _told(source: str, run: CellRun) -> str:
    """Return what a visible test says that failed: its message, or the line."""
    errors = [output for output in run.outputs if output["output_type"] == "error"]
    if not errors:
        return f"Your code raised {run.error}."
    said = " ".join(errors[-1]["evalue"].split())
    said = said if len(said) <= MAX_MESSAGE else f"{said[:MAX_MESSAGE]}…"
    if run.error == "NotImplementedError":
        return "Your code raised NotImplementedError: a cell is not filled in yet."
    if run.error != "AssertionError":
        return f"Your code raised {run.error}: {said}" if said else f"Your code raised {run.error}."
    return said or f"This does not hold: {_line(source, errors[-1]['traceback'])}"


def _line(source: str, traceback: list[str]) -> str:
    """Return the line of a test cell at which it stopped, as far as its traceback tells."""
    lines = source.split("\n")
    frame = FRAME.search("\n".join(traceback))
    number = int(frame[1]) if frame else 0
    return lines[number - 1].strip() if 0 < number <= len(lines) else "an assert"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
