"""Answers in words that stand beside their cell: below it, above it, or in the question."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.findings import RepairKind
from autograder.submission.repair.arranging import insert, new_slot

if TYPE_CHECKING:
    from autograder.submission.repair.work import Place, Slot, Work


def find_written(work: Work) -> None:
    """
    Fill the written answers that are missing with what the student wrote around them.

    A person reads them, so that nothing is lost if a remark is taken for an answer.

    Parameters
    ----------
    work : Work
        The notebook; its owned slots are in the order of the release.
    """
    for place in work.places:
        if place.cell.kind is Kind.MANUAL and place.cell.cell_type != "code":
            slot = work.owned().get(place.at)
            if slot is None or slot.key in {"", place.key}:
                _find(place, slot, work)


def added_lines(slot: Slot) -> list[str]:
    """Return the lines of a given cell that are not those handed out, in order."""
    if slot.owner is None:
        return []
    there = Counter(line.strip() for line in slot.owner.key.split("\n"))
    added = []
    for line in slot.key.split("\n"):
        if there[line.strip()] > 0:
            there[line.strip()] -= 1
        else:
            added.append(line)
    return added


def _find(place: Place, slot: Slot | None, work: Work) -> None:
    beside = _beside(place, work)
    copied = [one for one in _in_copies(place, work) if one not in beside]
    question = _question(place, work)
    # Below the question comes what was typed into it, then what stands around the answer.
    typed = "\n".join(added_lines(question)).strip() if question is not None else ""
    words = (one.source.strip("\n") for one in (*beside, *copied))
    texts = [text for text in dict.fromkeys((typed, *words)) if text]
    if texts:
        work.remove([*beside, *copied])
        source = "\n\n".join(texts)
        if slot is not None:
            slot.write(source)
        else:
            work.slots = insert(work.slots, [new_slot(place, source)])
        if slot is None and work.is_unmarked and not copied:
            work.unmarked.append(place)
            return
        was = "missing" if slot is None else "as it was handed out"
        found = "beside a copy of its question" if copied else "beside it"
        told = f"it was {was}; what the student wrote {found} stands for it"
        work.notes.repaired(RepairKind.FOUND, place.cell.grade_id, told)
    elif slot is None:
        work.slots = insert(work.slots, [new_slot(place)])
        work.notes.repaired(
            RepairKind.LOST, place.cell.grade_id, "it was missing; put back without an answer"
        )


def _beside(place: Place, work: Work) -> list[Slot]:
    """Return the student's own cells with words between the neighbours of an answer."""
    found: list[Slot] = []
    for slot in work.slots:
        if slot.owner is not None and slot.owner.at < place.at:
            found = []
        elif slot.owner is not None and slot.owner.at > place.at:
            break
        elif slot.owner is None and _has_words(slot, work):
            found.append(slot)
    return found


def _in_copies(place: Place, work: Work) -> list[Slot]:
    """Return the student's words below a copy of the question, as in a notebook pasted twice."""
    above = work.places[place.at - 1] if place.at else None
    if above is None or not above.key or above.cell.cell_type != "markdown":
        return []
    found: list[Slot] = []
    is_below = False
    # As it was handed in: the question may have been put elsewhere since.
    for slot in sorted((one for one in work.slots if not one.new), key=lambda one: one.at):
        if slot.key == above.key:
            is_below = True
        elif slot.key in {"", place.key}:
            continue
        elif slot.owner is not None or slot.is_code or slot.key in work.given.texts:
            is_below = False
        elif is_below and _has_words(slot, work):
            found.append(slot)
    return found


def _has_words(slot: Slot, work: Work) -> bool:
    if not slot.key or slot.key in work.given.texts:
        return False
    if not slot.is_code:
        return True
    # Prose typed into a code cell: no Python, or comments alone.
    return not work.python.statements(slot.source)


def _question(place: Place, work: Work) -> Slot | None:
    """Return the given text right above an answer, if the student has written into it."""
    if place.at == 0 or work.places[place.at - 1].cell.cell_type != "markdown":
        return None
    slot = work.owned().get(place.at - 1)
    kinds = {Kind.READONLY, Kind.TASK}
    if slot is None or slot.new or slot.owner is None or slot.owner.cell.kind not in kinds:
        return None
    return slot
