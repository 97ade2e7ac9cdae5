"""
What a student typed into locked cells, kept where it does not get lost.

The instructor's source stands in those cells afterwards. Imports and helpers
that were typed there still run, in a cell of their own; words stay to be read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.findings import RepairKind
from autograder.statements import names_bound
from autograder.submission.repair.edits import Edit, edit_of
from autograder.submission.repair.work import Slot
from autograder.submission.repair.written import added_lines

if TYPE_CHECKING:
    from autograder.statements import Statement
    from autograder.submission.repair.work import Place, Work


def keep_typed(work: Work) -> None:
    """
    Put what was typed into locked cells beside them.

    Parameters
    ----------
    work : Work
        The notebook, its answers found.
    """
    kept = []
    for slot in work.slots:
        place = slot.owner
        if place is None or slot.new or not place.cell.kind.locked or not _has_more(slot, place, work):
            kept.append(slot)
            continue
        beside = _code(slot, work) if place.cell.cell_type == "code" else _words(slot, work)
        # A test needs what was typed into it, an answer below what was typed into what is given.
        pair = [*beside, slot] if place.cell.kind is Kind.TEST else [slot, *beside]
        kept += pair
        if beside:
            what = "what was typed into it stands in a cell of its own now"
            work.notes.repaired(RepairKind.KEPT, place.cell.grade_id, what)
    work.slots = kept


def _has_more(slot: Slot, place: Place, work: Work) -> bool:
    """Tell whether there is something of the student's in a locked cell, beside changed words."""
    edit = edit_of(slot, place, work)
    if edit is Edit.TEXT:
        # A changed word is told as evidence; what was written below a text, or into a task, may be work.
        return place.cell.kind is Kind.TASK or not Counter(place.key.split("\n")) - Counter(
            slot.key.split("\n")
        )
    return edit in {Edit.ADDED, Edit.BROKEN, Edit.CHANGED, Edit.WEAKENED}


def _code(slot: Slot, work: Work) -> list[Slot]:
    """Return a cell with the statements that define what nothing else defines."""
    if slot.owner is None:
        return []
    mine = [one for one in work.python.statements(slot.source) if work.is_own(one)]
    names = names_bound(mine) - work.given.bound.union(*work.given.wanted.values())
    elsewhere = (
        one.source for one in work.slots if one is not slot and names & work.python.words(one.source)
    )
    names = names.difference(*(work.python.binds(source) for source in elsewhere))
    typed: list[Statement] = [one for one in mine if one.binds and one.binds <= names]
    return [_cell("code", "\n\n".join(one.text for one in typed))] if typed else []


def _words(slot: Slot, work: Work) -> list[Slot]:
    """Return a cell with what was written into a text, unless an answer holds it already."""
    text = "\n".join(added_lines(slot)).strip()
    answers = (one for one in work.slots if one.owner is not None and one.owner.cell.kind is Kind.MANUAL)
    return [_cell("markdown", text)] if text and not any(text in answer.source for answer in answers) else []


def _cell(cell_type: str, source: str) -> Slot:
    return Slot(cell={"cell_type": cell_type, "source": source, "id": ""}, new=True)
