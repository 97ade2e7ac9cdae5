"""From repaired cells to a notebook."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.notebook import FORMAT, Cell, Notebook, copied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from autograder.submission.repair.work import Slot

_SHORT, _LONGEST = 8, 64


def finished(slots: Sequence[Slot], metadata: Mapping[str, Any]) -> Notebook:
    """
    Return a notebook of these cells.

    Parameters
    ----------
    slots : sequence of Slot
        Its cells in order.
    metadata : mapping
        The metadata of the release.

    Returns
    -------
    dict
        Without outputs; locked cells with the instructor's source.
    """
    cells = [_finished(slot) for slot in slots]
    _name_cells(cells, slots)
    return {"cells": cells, "metadata": copied(metadata), "nbformat": FORMAT, "nbformat_minor": 5}


def _finished(slot: Slot) -> Cell:
    cell: Cell = copied(slot.cell)
    place = slot.owner
    cell["metadata"] = copied(place.cell.metadata) if place is not None else {}
    if place is not None and place.cell.kind is not Kind.PLAIN:
        cell["cell_type"] = place.cell.cell_type
        if place.cell.kind.locked:
            cell["source"] = place.cell.source
        elif slot.key == place.key:
            # So that an answer left as it was is known as such, whatever became of its blanks.
            cell["source"] = place.cell.released
        cell["metadata"]["nbgrader"]["checksum"] = place.cell.checksum
    if cell["cell_type"] == "code":
        cell.pop("attachments", None)
        cell |= {"outputs": [], "execution_count": None}
    return cell


def _name_cells(cells: list[Cell], slots: Sequence[Slot]) -> None:
    """Give every cell an id of its own: the released one, else its own, else a new one."""
    taken: set[str] = set()
    for cell, slot in zip(cells, slots, strict=True):
        if slot.owner is not None and slot.owner.cell.kind is not Kind.PLAIN:
            cell["id"] = slot.owner.cell.cell_id or slot.owner.cell.grade_id[:_LONGEST]
            taken.add(cell["id"])
    for number, (cell, slot) in enumerate(zip(cells, slots, strict=True)):
        if slot.owner is not None and slot.owner.cell.kind is not Kind.PLAIN:
            continue
        if not cell["id"] or cell["id"] in taken:
            text = f"{number} {cell['source']}"
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            free = (digest[start : start + _SHORT] for start in range(_LONGEST - _SHORT))
            cell["id"] = next(name for name in free if name not in taken)
        taken.add(cell["id"])
