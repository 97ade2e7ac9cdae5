"""Which submitted cell is which cell of the release: by the surest sign first."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from autograder.course.released import Kind, grade_id_of
from autograder.findings import RepairKind
from autograder.submission.repair.copies import choose, keep_given
from autograder.submission.repair.given import plain
from autograder.submission.repair.python import UNFINISHED, meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autograder.submission.repair.work import Place, Slot, Work

_MOST_OF_IT = 0.5
_LINE = 6
_USUAL = 3
"""A line says something if it has this many characters or more, and no more cells than these have it."""


def match(work: Work) -> None:
    """
    Find the submitted cell of every released one that can be told by what it is.

    Answers that nothing marks are left: they are found by what they define.

    Parameters
    ----------
    work : Work
        Its slots get owners.
    """
    claims: dict[str, list[Slot]] = defaultdict(list)
    for slot in work.slots:
        claims[slot.claim].append(slot)
    for place in work.places:
        if place.cell.grade_id and place.cell.grade_id in claims:
            choose(claims[place.cell.grade_id], place, work)
    for way in (_by_id, _by_text, _by_meaning, _by_lines):
        missing = [
            place for place in _missing(work) if way is _by_id or way is _by_text or place.cell.kind.locked
        ]
        if missing:
            for place, slot in way(missing, work):
                _found(place, slot, work)
    for slot in _free(work):
        if grade_id_of({"metadata": {"nbgrader": slot.nbgrader}}):
            told = "it is no cell of this notebook; its nbgrader metadata was removed"
            work.notes.repaired(RepairKind.STRANGE, slot.claim, told)
    _leave_out_stubs(work)
    _plain_cells(work)


def _leave_out_stubs(work: Work) -> None:
    """Leave out spare copies of what was handed out for an answer: run, they would undo it."""
    stubs = {
        place.key: place.cell.grade_id
        for place in work.places
        if place.cell.kind is Kind.SOLUTION and UNFINISHED.search(place.cell.released)
    }
    spare = [slot for slot in work.slots if slot.owner is None and slot.key in stubs]
    for name in dict.fromkeys(stubs[slot.key] for slot in spare):
        told = "what was handed out stood in a cell of its own too, which was left out"
        work.notes.repaired(RepairKind.COPIED, name, told)
    work.remove(spare)
    gone = {slot.key for slot in spare}
    for slot in work.slots if gone else ():
        if slot.owner is not None and slot.owner.key in gone:
            keep_given(slot, slot.owner, work)


def _missing(work: Work) -> list[Place]:
    owned = work.owned()
    return [place for place in work.places if place.cell.kind is not Kind.PLAIN and place.at not in owned]


def _free(work: Work) -> list[Slot]:
    return [slot for slot in work.slots if slot.owner is None and not slot.spare]


def _found(place: Place, slot: Slot, work: Work) -> None:
    slot.owner = place
    if slot.claim:
        detail = f"its nbgrader metadata was renamed to {slot.claim!r}; put back"
        work.notes.repaired(RepairKind.RENAMED, place.cell.grade_id, detail)
    elif not slot.torn_off:
        work.unmarked.append(place)


def _by_id(missing: list[Place], work: Work) -> Iterator[tuple[Place, Slot]]:
    ids = {slot.cell["id"]: slot for slot in reversed(_free(work)) if slot.cell["id"]}
    for place in missing:
        if place.cell.cell_id in ids:
            yield place, ids.pop(place.cell.cell_id)


def _by_text(missing: list[Place], work: Work) -> Iterator[tuple[Place, Slot]]:
    """Yield cells with the text that was handed out; of equal ones the first for the first."""
    texts: dict[str, list[Slot]] = defaultdict(list)
    for slot in reversed(_free(work)):
        texts[slot.key].append(slot)
    for place in missing:
        keys = dict.fromkeys((place.key, plain(place.cell.source)))
        slots = next((texts[key] for key in keys if key and texts.get(key)), None)
        if slots:
            yield place, slots.pop()


def _by_meaning(missing: list[Place], work: Work) -> Iterator[tuple[Place, Slot]]:
    """Yield locked code that only an editor has put into another form."""
    programs = {work.given.programs[place.at]: place for place in missing if place.at in work.given.programs}
    for slot in _free(work):
        if slot.is_code and programs:
            place = programs.pop(tuple(map(meaning, work.python.statements(slot.source))), None)
            if place is not None:
                yield place, slot


def _by_lines(missing: list[Place], work: Work) -> Iterator[tuple[Place, Slot]]:
    """Yield locked cells that were edited: most of their lines are still there."""
    homes: dict[str, list[Place]] = defaultdict(list)
    sizes = {}
    for place in missing:
        lines = set(_lines(place.key))
        sizes[place.at] = len(lines)
        for line in lines:
            homes[line].append(place)
    pairs = []
    for slot in _free(work):
        hits = Counter(
            place.at
            for line in set(_lines(slot.key)) & homes.keys()
            if len(homes[line]) <= _USUAL
            for place in homes[line]
        )
        pairs += [(count / sizes[at], at, slot) for at, count in hits.items()]
    places = {place.at: place for place in missing}
    taken: set[int] = set()
    for share, at, slot in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2].at)):
        if share >= _MOST_OF_IT and at in places and id(slot) not in taken:
            taken.add(id(slot))
            yield places.pop(at), slot


def _lines(text: str) -> Iterable[str]:
    return (line.strip() for line in text.split("\n") if len(line.strip()) >= _LINE)


def _plain_cells(work: Work) -> None:
    """Find the cells that nobody holds on to: they show where the others belong."""
    texts: dict[str, list[Slot]] = defaultdict(list)
    for slot in reversed(work.slots):
        if slot.owner is None:
            texts[slot.key].append(slot)
    for place in work.places:
        if place.cell.kind is Kind.PLAIN and texts.get(place.key):
            texts[place.key].pop().owner = place
