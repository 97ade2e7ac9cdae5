"""Cells back in the order of the release, and those that are given back where they are missing."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.findings import RepairKind
from autograder.submission.repair.work import Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from autograder.submission.repair.work import Place, Work

# How much a cell wants to stay where it is when the order is wrong: students'
# own cells first, because other code of theirs may stand around them.
WEIGHT = {Kind.SOLUTION: 10**6, Kind.MANUAL: 10**6, Kind.PLAIN: 1}
LOCKED_WEIGHT = 10**3


def arrange(work: Work) -> list[Slot]:
    """
    Put moved cells back in their place, and missing ones that are given.

    Parameters
    ----------
    work : Work
        The notebook; afterwards its owned slots are in the order of the release.

    Returns
    -------
    list of Slot
        The answers that were moved.
    """
    stays = _in_order(work.slots)
    moved: list[Slot] = []
    arranged = []
    for slot in work.slots:
        if slot.owner is None or id(slot) in stays:
            arranged.append(slot)
        elif slot.owner.cell.kind is Kind.PLAIN:
            slot.owner = None
            arranged.append(slot)
        else:
            moved.append(slot)
    for slot in moved:
        _tell(RepairKind.MOVED, slot, "it stood in another place; put back", work)
    lacking = list(_lacking(work))
    for slot in lacking:
        _tell(RepairKind.MISSING, slot, "it was missing; put back", work)
    work.slots = insert(arranged, [*moved, *lacking])
    return [slot for slot in moved if slot.owner is not None and not slot.owner.cell.kind.locked]


def insert(slots: Sequence[Slot], more: Iterable[Slot]) -> list[Slot]:
    """
    Return slots with owned ones put in where the release has them.

    What is given goes as early as it may; answers and tests go behind
    whatever the student wrote in between.

    Parameters
    ----------
    slots : sequence of Slot
        Slots whose owners are in order.
    more : iterable of Slot
        Slots to put in.

    Returns
    -------
    list of Slot
        All of them.
    """
    anchors = [(slot.owner.at, at) for at, slot in enumerate(slots) if slot.owner is not None]
    gaps: dict[int, list[Slot]] = defaultdict(list)
    for slot in more:
        if slot.owner is not None:
            gaps[bisect(anchors, (slot.owner.at, -1))].append(slot)
    early: dict[int, list[Slot]] = defaultdict(list)
    late: dict[int, list[Slot]] = defaultdict(list)
    for gap, waiting in gaps.items():
        first = anchors[gap - 1][1] + 1 if gap else 0
        last = anchors[gap][1] if gap < len(anchors) else len(slots)
        for slot in sorted(waiting, key=_at):
            is_early = not late[last] and _kind(slot) in {Kind.READONLY, Kind.PLAIN}
            (early[first] if is_early else late[last]).append(slot)
    result = []
    for at in range(len(slots) + 1):
        # At one index the late ones of the gap above come first: they are earlier in the release.
        result += sorted([*early.get(at, ()), *late.get(at, ())], key=_at)
        result += slots[at : at + 1]
    return result


def new_slot(place: Place, source: str | None = None) -> Slot:
    """Return a slot for a cell that was not handed in."""
    text = place.cell.source if source is None else source
    return Slot(cell={"cell_type": place.cell.cell_type, "source": text, "id": ""}, owner=place, new=True)


def _at(slot: Slot) -> int:
    return slot.owner.at if slot.owner is not None else -1


def _kind(slot: Slot) -> Kind:
    return slot.owner.cell.kind if slot.owner is not None else Kind.PLAIN


def _tell(kind: RepairKind, slot: Slot, detail: str, work: Work) -> None:
    if slot.owner is not None:
        cell = slot.owner.cell
        where = cell.grade_id or f"cell {slot.owner.at + 1} of what was handed out"
        work.notes.repaired(kind, where, detail)


def _lacking(work: Work) -> Iterator[Slot]:
    """Yield new slots for what is given and missing."""
    owned = work.owned()
    for place in work.places:
        if place.at in owned:
            continue
        if place.cell.kind.locked or (place.cell.kind is Kind.PLAIN and _is_needed(place, work)):
            yield new_slot(place)


def _is_needed(place: Place, work: Work) -> bool:
    """Tell whether code that was given, and that a student could delete, defines what nothing else does."""
    if place.cell.cell_type != "code" or any(
        slot.cell["id"] == place.cell.cell_id for slot in work.slots if place.cell.cell_id
    ):
        return False
    names = work.python.binds(place.cell.source)
    elsewhere = (slot.source for slot in work.slots if names & work.python.words(slot.source))
    return bool(names) and not any(work.python.binds(source) & names for source in elsewhere)


def _in_order(slots: Iterable[Slot]) -> set[int]:
    """Return the heaviest set of cells that stand in the order of the release."""
    owned = [(slot, slot.owner) for slot in slots if slot.owner is not None]
    if all(one.at < other.at for (_, one), (_, other) in pairwise(owned)):
        return {id(slot) for slot, _ in owned}
    best: list[tuple[int, int]] = []  # weight of the best chain that ends here, cell before it
    for number, (_, owner) in enumerate(owned):
        before = ((best[earlier][0], earlier) for earlier in range(number) if owned[earlier][1].at < owner.at)
        weight, previous = max(before, default=(0, -1))
        best.append((weight + WEIGHT.get(owner.cell.kind, LOCKED_WEIGHT), previous))
    chain: set[int] = set()
    last = max(range(len(best)), key=lambda number: best[number][0], default=-1)
    while last >= 0:
        chain.add(id(owned[last][0]))
        last = best[last][1]
    return chain
