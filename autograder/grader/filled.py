"""A graded notebook: what was handed in and repaired, with outputs and results in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder.checks.report import report_output, score_output
from autograder.course.released import grade_id_of
from autograder.notebook import copied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.findings import Repair
    from autograder.notebook import Notebook
    from autograder.results import NotebookResult


@dataclass(frozen=True, slots=True)
class GradedNotebook:
    """
    A notebook after grading.

    Parameters
    ----------
    notebook : dict
        The repaired notebook with outputs and results.
    result : NotebookResult
        The outcome of each grade cell.
    unanswered : frozenset of str
        The solution cells that were left as they were handed out.
    """

    notebook: Notebook
    result: NotebookResult
    unanswered: frozenset[str]

    def after(self, repairs: tuple[Repair, ...]) -> GradedNotebook:
        """Return it with what was put right before it could be repaired."""
        if not repairs:
            return self
        result = replace(self.result, repairs=(*repairs, *self.result.repairs))
        about = self.notebook["metadata"]["autograder"]
        metadata = self.notebook["metadata"] | {
            "autograder": about | {"repairs": [one.to_dict() for one in result.repairs]}
        }
        return replace(self, notebook=self.notebook | {"metadata": metadata}, result=result)


def filled(
    repaired: Notebook, outputs: Sequence[list[dict[str, Any]]], result: NotebookResult, sandbox: str
) -> Notebook:
    """
    Return a repaired notebook with outputs and results in it, as it is stored in `autograded/`.

    Parameters
    ----------
    repaired : dict
        The notebook; it is left alone.
    outputs : sequence of list of dict
        What each of its code cells shows, in nbformat's form.
    result : NotebookResult
        The outcome of each grade cell.
    sandbox : str
        What stood around student code.

    Returns
    -------
    dict
        The notebook; each test cell begins with its score, as nbgrader reads
        it, and a report for people.
    """
    notebook: Notebook = copied(repaired)
    results = {cell.grade_id: cell for cell in result.cells}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, (cell, shown) in enumerate(zip(code, outputs, strict=True), start=1):
        graded = results.get(grade_id_of(cell))
        if graded is not None and not graded.manual:
            # nbgrader believes the first result it meets, so the score comes first.
            score = [] if graded.not_graded else [score_output(graded)]
            shown = [*score, report_output(graded), *shown]  # noqa: PLW2901
        cell["execution_count"] = count
        cell["outputs"] = [
            output | {"execution_count": count} if output["output_type"] == "execute_result" else output
            for output in shown
        ]
    for cell in notebook["cells"]:
        if graded := results.get(grade_id_of(cell)):
            cell["metadata"]["autograder"] = graded.to_dict()
    notebook["metadata"]["autograder"] = {
        "repairs": [one.to_dict() for one in result.repairs],
        "evidence": [one.to_dict() for one in result.evidence],
        "sandbox": sandbox,
        "status": result.status.value,
    }
    return notebook
