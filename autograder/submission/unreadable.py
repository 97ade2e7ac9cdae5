"""What stands in `autograded/` for a notebook that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.notebook import FORMAT, Cell, Notebook, copied
from autograder.results import CellResult, NotebookResult, Status

if TYPE_CHECKING:
    from autograder.course.released import ReleasedCell, ReleasedNotebook
    from autograder.findings import Repair

_NOTICE = "This notebook is not graded yet, because it is not clear what was handed in:\n\n    {reason}"


def without_score(released: ReleasedNotebook, reason: str, repairs: tuple[Repair, ...]) -> NotebookResult:
    """
    Return the result of a notebook that cannot be read.

    Parameters
    ----------
    released : ReleasedNotebook
        What was handed out.
    reason : str
        Why it is not graded, and what to do.
    repairs : tuple of Repair
        What was put right all the same.

    Returns
    -------
    NotebookResult
        No score in any cell, but the reason.
    """
    cells = tuple(
        CellResult(grade_id=cell.grade_id, max_score=cell.points, manual=cell.kind.manual, not_graded=reason)
        for cell in released.graded
    )
    return NotebookResult(name=released.name, status=Status.UNREADABLE, cells=cells, repairs=repairs)


def stand_in(released: ReleasedNotebook, result: NotebookResult, reason: str, sandbox: str) -> Notebook:
    """
    Return a notebook that says why there is none, and holds the graded cells.

    Formgrader shows a notebook without a file to nobody; so staff find this
    one among those that wait for them, read the reason, and may score it.

    Parameters
    ----------
    released : ReleasedNotebook
        What was handed out.
    result : NotebookResult
        Its result, without a score.
    reason : str
        Why it is not graded, and what to do.
    sandbox : str
        What stands around student code, as noted in every result.

    Returns
    -------
    dict
        A notice, and the graded cells as the instructor wrote them, without an answer.
    """
    # Indented, it is shown as it is, whatever a file is called.
    notice: Cell = {
        "cell_type": "markdown",
        "id": "not-graded",
        "metadata": {},
        "source": _NOTICE.format(reason=" ".join(reason.split())),
    }
    results = {cell.grade_id: cell for cell in result.cells}
    about = {
        "repairs": [one.to_dict() for one in result.repairs],
        "evidence": [one.to_dict() for one in result.evidence],
        "sandbox": sandbox,
        "status": result.status.value,
    }
    return {
        "cells": [notice, *(_cell(cell, results[cell.grade_id]) for cell in released.graded)],
        "metadata": copied(released.metadata) | {"autograder": about},
        "nbformat": FORMAT,
        "nbformat_minor": 5,
    }


def _cell(released: ReleasedCell, result: CellResult) -> Cell:
    cell: Cell = {
        "cell_type": released.cell_type,
        "id": released.cell_id or released.grade_id[:64],
        "metadata": copied(released.metadata),
        "source": released.source,
    }
    cell["metadata"]["nbgrader"]["checksum"] = released.checksum
    cell["metadata"]["autograder"] = result.to_dict()
    return cell | ({"outputs": [], "execution_count": None} if released.cell_type == "code" else {})
