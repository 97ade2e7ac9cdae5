"""
Why a name is missing: the cell that should define it did not run to its end.

A check can only say that a name is not defined. What a student must mend is
told by the cell's own output, so that comes first on the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from autograder.course.released import Kind, grade_id_of
from autograder.raised import STOPPED, SYNTAX_ERRORS, said
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.course.released import ReleasedNotebook
    from autograder.notebook import Cell, Notebook
    from autograder.results import CellResult, NotebookResult

MISSING = re.compile(r"^`([^\W\d]\w{0,99})` is not defined")
FRAME = re.compile(r"Cell In\[[0-9]{1,6}\], line ([0-9]{1,6})\b")
SAID_LIMIT = 200
"""Characters of an exception's message that are repeated."""


def causes(notebook: Notebook, released: ReleasedNotebook, result: NotebookResult) -> dict[str, str]:
    """
    Return what kept names from being defined.

    Parameters
    ----------
    notebook : dict
        A graded notebook.
    released : ReleasedNotebook
        What was handed out.
    result : NotebookResult
        Its results.

    Returns
    -------
    dict of str to str
        By grade_id of a test cell that misses a name a sentence, if a cell of the
        student's above it raised and would have defined that name.
    """
    wanted = {cell.grade_id: names for cell in result.cells if (names := _missing(cell))}
    if not wanted:
        return {}
    kinds = {cell.grade_id: cell.kind for cell in released.cells}
    found: dict[str, str] = {}
    broken: list[tuple[Cell, dict[str, Any]]] = []
    for cell in notebook["cells"]:
        grade_id = grade_id_of(cell)
        if grade_id in wanted:
            for culprit, error in reversed(broken):
                names = [name for name in wanted[grade_id] if _defines(culprit["source"], name)]
                if names:
                    found[grade_id] = _told(culprit, error, names[0])
                    break
        elif kinds.get(grade_id) is not Kind.TEST and (error := next(_errors(cell), None)):
            broken.append((cell, error))
    return found


def _missing(cell: CellResult) -> list[str]:
    matches = (MISSING.match(check.rationale) for check in cell.checks if check.outcome is Outcome.MISSING)
    return list(dict.fromkeys(match[1] for match in matches if match))


def _errors(cell: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict) and output.get("output_type") == "error":
            yield output


def _defines(source: str, name: str) -> bool:
    """Tell whether a cell that did not run would have defined a name; it need not be Python."""
    defined = rf"^[ \t]*(?:async +)?(?:def|class) +{name}\b"
    assigned = rf"^(?:\w{{1,50}}, ?){{0,8}}{name}\b[^=\n(]{{0,200}}=(?!=)"
    return re.search(f"{defined}|{assigned}", source, re.MULTILINE) is not None


def _told(cell: Cell, error: Mapping[str, Any], name: str) -> str:
    """Return what is wrong with a cell, in a sentence or two that begin with the cell."""
    kind, message = str(error.get("ename", "")), str(error.get("evalue", ""))
    words, line = said(kind, message)
    words = words[:SAID_LIMIT].rstrip(".")
    where = f"Your cell `{grade_id}`" if (grade_id := grade_id_of(cell)) else "A cell of yours"
    if kind in SYNTAX_ERRORS:
        place = f" in line {line}" if line is not None else ""
        what = f": {words}" if words else ""
        so = f"So nothing of it was run, and `{name}` is not defined."
        return f"{where} has a syntax error{place}{what}. {so}"
    if kind in STOPPED:
        return f"{where} was stopped before `{name}` was defined: {words}."
    frames = FRAME.findall("\n".join(map(str, error.get("traceback") or ())))
    place = f" in line {frames[0]}" if frames else ""
    return f"{where} raised {kind[:SAID_LIMIT]}{place}, before `{name}` was defined."
