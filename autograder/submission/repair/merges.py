"""
Cells that were merged into one, taken apart again.

What was handed out is known by its text. Where it stands inside another cell,
and nowhere else, that cell was merged with it; what is around it are the
student's own parts.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.findings import RepairKind
from autograder.submission.repair.python import UNFINISHED
from autograder.submission.repair.work import Slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.submission.repair.work import Place, Work

_SHORTEST = 15
"""Characters of a text that cannot stand in an answer by chance."""


def take_apart(work: Work) -> None:
    """
    Take merged cells apart.

    Parameters
    ----------
    work : Work
        Its slots become more.
    """
    by_first_line: dict[str, list[Place]] = defaultdict(list)
    for place in (*_lacking(work), *_stubs(work)):
        by_first_line[place.key.split("\n", 1)[0]].append(place)
    keys = {place.key for place in work.places}
    slots: list[Slot] = []
    for slot in work.slots:
        parts = _parts(slot, by_first_line) if slot.key not in keys else []
        if len(parts) > 1 and _is_merge(slot, parts, work):
            where = slot.claim if slot.claim in _names(work) else f"cell {slot.at + 1}"
            told = f"it was merged with {len(parts) - 1} other cells; taken apart"
            work.notes.repaired(RepairKind.MERGED, where, told)
            slots += _torn(slot, parts, work)
        else:
            slots.append(slot)
    work.slots = slots


def _names(work: Work) -> set[str]:
    return {place.cell.grade_id for place in work.places if place.cell.grade_id}


def _lacking(work: Work) -> Iterator[Place]:
    """Yield the cells of the release that are nowhere by themselves."""
    claims = {slot.claim for slot in work.slots}
    keys = {slot.key for slot in work.slots}
    for place in work.places:
        is_there = place.cell.grade_id in claims if place.cell.grade_id else False
        if not is_there and place.key not in keys and len(place.key) >= _SHORTEST:
            yield place


def _stubs(work: Work) -> Iterator[Place]:
    """Yield the answers whose stub would undo them, wherever a copy of it runs."""
    for place in work.places:
        if place.cell.kind is Kind.SOLUTION and UNFINISHED.search(place.cell.released):
            yield place


def _parts(slot: Slot, by_first_line: dict[str, list[Place]]) -> list[tuple[Place | None, str]]:
    """Return the parts of a cell: what was handed out with its place, and the student's without one."""
    lines = slot.key.split("\n")
    parts: list[tuple[Place | None, str]] = []
    mine: list[str] = []
    at = 0
    while at < len(lines):
        # Above the student's own text, what was handed out is the beginning of the answer.
        found = _found_at(at, lines, by_first_line, "" if any(mine) else slot.claim)
        if found is None:
            mine.append(lines[at])
            at += 1
            continue
        if any(mine):
            parts.append((None, "\n".join(mine).strip("\n")))
        mine = []
        parts.append((found, found.cell.released))
        at += found.key.count("\n") + 1
    if any(mine):
        parts.append((None, "\n".join(mine).strip("\n")))
    return parts


def _is_merge(slot: Slot, parts: list[tuple[Place | None, str]], work: Work) -> bool:
    """Tell a merged cell from one of the release that something was typed into."""
    wanted = frozenset[str]().union(*work.given.wanted.values())
    if any(place.cell.kind is Kind.SOLUTION for place, _ in parts if place is not None):
        return True
    if any(work.python.binds(text) & wanted for place, text in parts if place is None):
        return True
    # Words that are given may stand beside an answer in words: a person reads them.
    held = [place for place, _ in parts if place is not None and place.cell.kind is not Kind.PLAIN]
    return len(held) > (0 if slot.claim in _names(work) else 1)


def _found_at(at: int, lines: list[str], by_first_line: dict[str, list[Place]], claim: str) -> Place | None:
    places = by_first_line.get(lines[at], [])
    for place in places:
        if claim and place.cell.grade_id == claim:
            continue
        wanted = place.key.split("\n")
        if at + len(wanted) <= len(lines) and all(lines[at + n] == line for n, line in enumerate(wanted)):
            if place.cell.kind is not Kind.SOLUTION:
                # Of equal texts the next one is the next cell.
                places.remove(place)
            return place
    return None


def _torn(slot: Slot, parts: list[tuple[Place | None, str]], work: Work) -> Iterator[Slot]:
    """Yield a slot for each part; the metadata goes with the first that it may belong to."""
    claimed = next(
        (place.key for place in work.places if slot.claim and place.cell.grade_id == slot.claim), None
    )
    heirs = [at for at, (_, text) in enumerate(parts) if text == claimed]
    heirs += [at for at, (place, _) in enumerate(parts) if place is None]
    for at, (place, text) in enumerate(parts):
        if place is not None:
            cell_type = place.cell.cell_type
        else:
            cell_type = "code" if work.python.statements(text) else slot.cell["cell_type"]
        is_heir = at == next(iter(heirs), 0)
        cell = slot.cell | {"cell_type": cell_type, "source": text}
        yield Slot(
            cell=cell if is_heir else cell | {"id": ""},
            nbgrader=slot.nbgrader if is_heir else {},
            tags=slot.tags if is_heir else (),
            at=slot.at,
            torn_off=not is_heir,
        )
