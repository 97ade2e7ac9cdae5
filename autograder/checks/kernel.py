"""`run_checks`: the hidden checks in an instructor's own Jupyter kernel."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from IPython.core.getipython import get_ipython
from IPython.display import display

from autograder.checks.report import report_output
from autograder.checks.suite import CheckSuite, LocalNames, assignments, modules
from autograder.errors import CheckError, nearest
from autograder.results import CellResult

_SEED = b"instructor"


def run_checks(grade_id: str, *, assignment: str | None = None) -> float:
    """
    Run a test cell's hidden checks on this notebook and show a table.

    The last line of a test cell in an instructor's notebook. The checks run
    against the kernel's own names. The value is the points earned, so that
    nbgrader's partial credit works on it.

    Parameters
    ----------
    grade_id : str
        The test cell, which is also the name of the module of checks.
    assignment : str, optional
        The assignment. Needed only where several have a cell of this name and
        the notebook's folder is not called like one of them.

    Returns
    -------
    float
        Points earned, inside [0, points of the cell].

    Raises
    ------
    CheckError
        If there are no such checks, or they are broken. It is never a score.
    """
    shell = get_ipython()
    if shell is None:
        raise CheckError("run_checks", "there is no IPython shell", "Call it in a notebook.")
    with CheckSuite(assignment or _assignment_of(grade_id), [grade_id]) as suite:
        runs = suite.run(grade_id, LocalNames(shell.user_ns), seed=_SEED)
        max_score = suite.points()[grade_id]
    cell = CellResult(grade_id=grade_id, max_score=max_score, checks=tuple(run.result for run in runs))
    display(report_output(cell)["data"], raw=True)
    return float(cell.auto_score or Decimal(0))


def _assignment_of(grade_id: str) -> str:
    known = {assignment: modules(assignment) for assignment in assignments()}
    having = [assignment for assignment, found in known.items() if grade_id in found]
    if len(having) == 1:
        return having[0]
    here = Path.cwd().name
    if here in having:
        return here
    if not having:
        names = [name for found in known.values() for name in found]
        raise CheckError(grade_id, "there are no hidden checks for this cell", nearest(grade_id, names))
    raise CheckError(
        grade_id,
        f"several assignments have this cell: {', '.join(having)}",
        "Pass assignment=, the one you mean.",
    )
