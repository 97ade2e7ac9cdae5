"""The repair of a notebook, from its first step to its last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.findings import RepairKind
from autograder.submission.repair.answers import bring_helpers, find_answers
from autograder.submission.repair.arranging import arrange
from autograder.submission.repair.changes import note_changes
from autograder.submission.repair.cleaning import clean
from autograder.submission.repair.finishing import finished
from autograder.submission.repair.matching import match
from autograder.submission.repair.merges import take_apart
from autograder.submission.repair.python import Python
from autograder.submission.repair.splits import join_parts
from autograder.submission.repair.typed import keep_typed
from autograder.submission.repair.work import Work
from autograder.submission.repair.written import find_written

if TYPE_CHECKING:
    from autograder.course.released import ReleasedNotebook
    from autograder.findings import Evidence, Repair
    from autograder.notebook import Notebook

MAX_ROUNDS = 4
"""How often a notebook is repaired until nothing more changes; one that was only filled in once."""


def repair(
    submitted: Notebook, released: ReleasedNotebook
) -> tuple[Notebook, tuple[Repair, ...], tuple[Evidence, ...]]:
    """
    Return a notebook that holds every graded cell of the release, once and in order.

    Parameters
    ----------
    submitted : dict
        A notebook as `read_notebook` returned it.
    released : ReleasedNotebook
        The notebook that was handed out.

    Returns
    -------
    notebook : dict
        Without outputs, tags and results; locked cells with the instructor's
        source, hidden tests included. It shares nothing with `submitted`.
    repairs : tuple of Repair
        What was put right. Empty for a notebook that was only filled in.
    evidence : tuple of Evidence
        What looks like tampering, for course staff.
    """
    python = Python()
    work = _repaired(submitted, released, python)
    notebook = finished(work.slots, released.metadata)
    repairs, evidence = work.notes.repairs, work.notes.evidence
    for _ in range(MAX_ROUNDS - 1):
        if not work.notes.repairs:
            break
        # What was put right may show what else is wrong: parts that now stand side by side.
        work = _repaired(notebook, released, python)
        better = finished(work.slots, released.metadata)
        if better["cells"] == notebook["cells"]:
            break
        notebook = better
        # Locked cells have their hidden tests by now, and what is lost stays lost.
        known = {RepairKind.HIDDEN_TESTS, RepairKind.LOST}
        repairs += [one for one in work.notes.repairs if one.kind not in known and one not in repairs]
    return notebook, tuple(repairs), tuple(evidence)


def _repaired(notebook: Notebook, released: ReleasedNotebook, python: Python) -> Work:
    work = Work(released, python)
    clean(notebook, work)
    take_apart(work)
    join_parts(work)
    match(work)
    moved = arrange(work)
    bring_helpers(moved, work)
    find_answers(work)
    find_written(work)
    keep_typed(work)
    note_changes(work)
    return work
