"""From anything that a notebook's file may hold to cells that can be worked on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from autograder.findings import EvidenceKind, RepairKind, Severity
from autograder.notebook import joined
from autograder.submission.repair.work import Slot

if TYPE_CHECKING:
    from autograder.notebook import Cell, Notebook
    from autograder.submission.repair.work import Work

CELL_TYPES = ("code", "markdown", "raw")
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
RESULTS = "autograder"
"""Where a grader leaves results, in the metadata of a notebook and of its cells."""


def clean(submitted: Notebook, work: Work) -> None:
    """
    Take over the cells of a submission, and nothing else of it.

    Parameters
    ----------
    submitted : dict
        A notebook as `read_notebook` returned it.
    work : Work
        Its slots are filled.
    """
    is_graded = RESULTS in _mapping(submitted.get("metadata"))
    removed = "it came with results of a grader in it; removed"
    if is_graded:
        work.notes.repaired(RepairKind.RESULTS, "notebook", removed)
    for at, cell in enumerate(submitted["cells"]):
        where = f"cell {at + 1}"
        if not isinstance(cell, dict):
            work.notes.repaired(RepairKind.DAMAGED, where, "it is damaged; dropped")
            continue
        metadata = _mapping(cell.get("metadata"))
        tags = metadata.get("tags")
        work.slots.append(
            Slot(
                cell=_clean_cell(cell, metadata),
                nbgrader=_mapping(metadata.get("nbgrader")),
                tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
                at=at,
            )
        )
        if RESULTS in metadata:
            is_graded = True
            work.notes.repaired(RepairKind.RESULTS, where, removed)
    if is_graded:
        told = "it came with results of a grader in it, as a notebook that was graded before has them"
        work.notes.looks(EvidenceKind.RESULTS, Severity.DOUBT, "notebook", told)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _clean_cell(cell: Cell, metadata: dict[str, Any]) -> Cell:
    kind = cell.get("cell_type")
    # Google Colab keeps a cell's id in its metadata.
    ids = (one for one in (cell.get("id"), metadata.get("id")) if _is_cell_id(one))
    clean: Cell = {
        "cell_type": kind if kind in CELL_TYPES else "raw",
        "source": joined(cell.get("source")).replace("\r\n", "\n").replace("\r", "\n"),
        "id": next(ids, ""),
    }
    attachments = cell.get("attachments")
    if isinstance(attachments, dict):
        bundles = {name: bundle for name, bundle in attachments.items() if _is_bundle(bundle)}
        if bundles:
            clean["attachments"] = bundles
    return clean


def _is_cell_id(value: object) -> bool:
    return isinstance(value, str) and CELL_ID.fullmatch(value) is not None


def _is_bundle(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
