"""
Repair of a submitted notebook, so that it can be graded whatever happened to it.

Students duplicate, split, delete, move and retype cells; editors drop the
metadata that nbgrader relies on; some change a test on purpose. Every cell of
the release is found again (by its grade_id, else its cell id, else its text,
else its place), locked cells get the instructor's source, and what was not a
plain accident of saving is told to the course staff in a note. Nothing is
executed, nothing raises, and a repaired notebook is repaired to itself.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.findings import Evidence, EvidenceKind, Repair, RepairKind, Severity, bounded
from autograder.notebook import FORMAT, Cell, Notebook, copied, joined
from autograder.released import Kind, ReleasedCell, ReleasedNotebook, checksum, grade_id_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FLAGS = ("grade", "solution", "locked", "task", "points")
CELL_TYPES = ("code", "markdown", "raw")
SKIP_TAG = "skip-execution"

# A student may hand in a million damaged cells, or a grade_id of a million letters.
MAX_ALIKE = 20
CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

# How much a cell wants to stay where it is when the order is wrong: students'
# own cells first, because other code of theirs may stand around them.
WEIGHT = {Kind.SOLUTION: 10**6, Kind.MANUAL: 10**6, Kind.PLAIN: 1}
LOCKED_WEIGHT = 10**3


@dataclass(slots=True, kw_only=True)
class _Slot:
    """A cell on its way through the repair."""

    cell: Cell
    nbgrader: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    owner: ReleasedCell | None = None
    duplicate: bool = False
    """It claims a cell of the release that another copy stands for."""
    new: bool = False
    """It was put in by the repair."""

    @property
    def claim(self) -> str:
        grade_id = self.nbgrader.get("grade_id")
        return grade_id if isinstance(grade_id, str) else ""

    @property
    def claims_a_place(self) -> bool:
        return grade_id_of({"metadata": {"nbgrader": self.nbgrader}}) != ""

    @property
    def source(self) -> str:
        return str(self.cell["source"])


@dataclass(slots=True)
class _Notes:
    """What was found so far."""

    repairs: list[Repair] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)

    def repaired(self, kind: RepairKind, where: str, detail: str) -> None:
        self.repairs.append(Repair(kind=kind, where=bounded(where), detail=bounded(detail)))

    def looks(self, kind: EvidenceKind, severity: Severity, where: str, detail: str) -> None:
        self.evidence.append(
            Evidence(kind=kind, severity=severity, where=bounded(where), detail=bounded(detail))
        )


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
    notes = _Notes()
    slots = _clean(submitted["cells"], notes)
    _match(slots, released, notes)
    slots = _arrange(slots, released, notes)
    _adopt(slots, released, notes)
    for slot in slots:
        if slot.owner is not None and slot.owner.kind is not Kind.PLAIN and not slot.new:
            _changes(slot, slot.owner, notes)
    cells = [_finish(slot) for slot in slots]
    _name_cells(cells, slots)
    notebook = {
        "cells": cells,
        "metadata": copied(released.metadata),
        "nbformat": FORMAT,
        "nbformat_minor": 5,
    }
    return notebook, tuple(notes.repairs), tuple(notes.evidence)


def _few(kind: RepairKind, found: list[tuple[str, str]], notes: _Notes) -> None:
    """Note repairs that are all alike, or the first of them and how many more there are."""
    for where, detail in found[:MAX_ALIKE]:
        notes.repaired(kind, where, detail)
    if (more := len(found) - MAX_ALIKE) > 0:
        notes.repaired(kind, "notebook", f"{more} more cells like these")


# ---------------------------------------------------------------- cleaning


def _clean(cells: Sequence[object], notes: _Notes) -> list[_Slot]:
    slots: list[_Slot] = []
    damaged: list[tuple[str, str]] = []
    forged: list[tuple[str, str]] = []
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            damaged.append((f"cell {number}", "it is damaged; dropped"))
            continue
        raw = cell.get("metadata")
        metadata: dict[str, Any] = raw if isinstance(raw, dict) else {}
        nbgrader, tags = metadata.get("nbgrader"), metadata.get("tags")
        slots.append(
            _Slot(
                cell=_clean_cell(cell),
                nbgrader=nbgrader if isinstance(nbgrader, dict) else {},
                tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
            )
        )
        if "autograder" in metadata:
            forged.append((f"cell {number}", "it came with results of a grader in it; removed"))
    _few(RepairKind.DAMAGED, damaged, notes)
    _few(RepairKind.RESULTS, forged, notes)
    return slots


def _clean_cell(cell: Cell) -> Cell:
    kind = cell.get("cell_type")
    clean: Cell = {
        "cell_type": kind if kind in CELL_TYPES else "raw",
        "source": joined(cell.get("source")),
        "id": cell["id"] if _is_cell_id(cell.get("id")) else "",
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


# ---------------------------------------------------------------- matching


def _match(slots: list[_Slot], released: ReleasedNotebook, notes: _Notes) -> None:
    """Find the submitted cell of every released one, surest sign first."""
    for cell in released.cells:
        copies = [slot for slot in slots if slot.claim == cell.grade_id]
        if copies:
            _choose(copies, cell, notes)
    found = {slot.owner.grade_id for slot in slots if slot.owner is not None}
    for cell in released.cells:
        if cell.grade_id in found:
            continue
        slot = _lost(slots, cell)
        if slot is not None:
            slot.owner = cell
            kind = RepairKind.RENAMED if slot.claim else RepairKind.STRIPPED
            was = f"renamed to {slot.claim!r}" if slot.claim else "removed"
            notes.repaired(kind, cell.grade_id, f"its nbgrader metadata was {was}; put back")
    strange = [
        (slot.claim, "it is no cell of this notebook; its nbgrader metadata was removed")
        for slot in slots
        if slot.owner is None and not slot.duplicate and slot.claims_a_place
    ]
    _few(RepairKind.STRANGE, strange, notes)
    _match_plain(slots, released)


def _match_plain(slots: list[_Slot], released: ReleasedNotebook) -> None:
    for plain in released.layout:
        if plain.kind is Kind.PLAIN:
            same = (slot for slot in slots if slot.owner is None and _same(slot.source, plain.released))
            if (slot := next(same, None)) is not None:
                slot.owner = plain


def _choose(copies: list[_Slot], cell: ReleasedCell, notes: _Notes) -> None:
    # A split or copied answer: of the parts that are not just the stub, the
    # first stands for the cell. A person reads a written answer, so there the
    # parts are joined; code of the other copies runs where it is.
    answers = [slot for slot in copies if not _same(slot.source, cell.released)] or copies
    kept = copies[0] if cell.kind.locked else answers[0]
    kept.owner = cell
    for slot in copies:
        slot.duplicate = slot is not kept
    if len(copies) == 1:
        return
    kind, done = RepairKind.COPIED, "kept the first, the others are plain cells now"
    if cell.kind is Kind.MANUAL and len(answers) > 1:
        kept.cell["source"] = "\n\n".join(slot.source for slot in answers)
        kind, done = RepairKind.JOINED, "joined"
    notes.repaired(kind, cell.grade_id, f"there were {len(copies)} copies of it; {done}")


def _lost(slots: Iterable[_Slot], cell: ReleasedCell) -> _Slot | None:
    free = [slot for slot in slots if slot.owner is None]
    for slot in free:
        if cell.cell_id and slot.cell["id"] == cell.cell_id:
            return slot
    if not cell.kind.locked:
        return None
    for slot in free:
        if slot.source.strip() and (_same(slot.source, cell.released) or _same(slot.source, cell.source)):
            return slot
    return None


def _same(one: str, other: str) -> bool:
    """Compare two sources as a reader would: line ends and trailing blanks do not count."""
    return _lines(one) == _lines(other)


def _lines(source: str) -> list[str]:
    return [line.rstrip() for line in source.strip().splitlines()]


# --------------------------------------------------------------- arranging


def _arrange(slots: list[_Slot], released: ReleasedNotebook, notes: _Notes) -> list[_Slot]:
    """Put moved cells back in their place, and missing locked ones."""
    place = {id(cell): number for number, cell in enumerate(released.layout)}
    stays = _in_order(slots, place)
    moved: dict[int, _Slot] = {}
    arranged = []
    for slot in slots:
        if slot.owner is None or id(slot) in stays:
            arranged.append(slot)
        elif slot.owner.kind is Kind.PLAIN:
            slot.owner = None
            arranged.append(slot)
        else:
            moved[id(slot.owner)] = slot
    present = {id(slot.owner) for slot in arranged}
    for cell in released.cells:
        if id(cell) in present:
            continue
        slot = moved.get(id(cell)) or _Slot(cell=_new_cell(cell), owner=cell, new=True)
        if slot.new and not cell.kind.locked:
            continue
        kind = RepairKind.MISSING if slot.new else RepairKind.MOVED
        what = "it was missing" if slot.new else "it stood in another place"
        notes.repaired(kind, cell.grade_id, f"{what}; put back")
        _insert(arranged, slot, place)
    return arranged


def _in_order(slots: Sequence[_Slot], place: Mapping[int, int]) -> set[int]:
    """Return the heaviest set of cells that stand in the order of the release."""
    owned = [(slot, slot.owner) for slot in slots if slot.owner is not None]
    best: list[tuple[int, int]] = []  # weight of the best chain that ends here, cell before it
    for number, (_, owner) in enumerate(owned):
        before = (
            (best[earlier][0], earlier)
            for earlier in range(number)
            if place[id(owned[earlier][1])] < place[id(owner)]
        )
        weight, previous = max(before, default=(0, -1))
        best.append((weight + WEIGHT.get(owner.kind, LOCKED_WEIGHT), previous))
    chain: set[int] = set()
    last = max(range(len(best)), key=lambda number: best[number][0], default=-1)
    while last >= 0:
        chain.add(id(owned[last][0]))
        last = best[last][1]
    return chain


def _insert(slots: list[_Slot], slot: _Slot, place: Mapping[int, int]) -> None:
    # A graded cell goes as late as it may, after whatever the student wrote
    # in place of a deleted cell; given cells go as early as they may.
    owner = slot.owner
    if owner is None:
        return
    places = [place[id(other.owner)] if other.owner is not None else None for other in slots]
    if owner.kind.graded:
        later = (at for at, number in enumerate(places) if number is not None and number > place[id(owner)])
        slots.insert(next(later, len(slots)), slot)
    else:
        earlier = [at for at, number in enumerate(places) if number is not None and number < place[id(owner)]]
        slots.insert(earlier[-1] + 1 if earlier else 0, slot)


def _adopt(slots: list[_Slot], released: ReleasedNotebook, notes: _Notes) -> None:
    """Take the student's own cell in the place of a lost answer for that answer."""
    given = {tuple(_lines(cell.released)) for cell in released.layout}
    cells = released.cells
    for number, cell in enumerate(cells):
        at = {slot.owner.grade_id: at for at, slot in enumerate(slots) if slot.owner is not None}
        if cell.grade_id in at:
            continue
        start = max((at[other.grade_id] + 1 for other in cells[:number] if other.grade_id in at), default=0)
        end = min(
            (at[other.grade_id] for other in cells[number:] if other.grade_id in at), default=len(slots)
        )
        likely = [
            slot
            for slot in slots[start:end]
            if slot.owner is None
            and slot.cell["cell_type"] == cell.cell_type
            and slot.source.strip()
            and tuple(_lines(slot.source)) not in given
        ]
        if likely:
            max(likely, key=lambda slot: len(slot.source)).owner = cell
            what = "it was missing; the student's cell in its place stands for it"
            notes.repaired(RepairKind.FOUND, cell.grade_id, what)
        elif cell.kind is Kind.MANUAL:
            slots.insert(end, _Slot(cell=_new_cell(cell), owner=cell, new=True))
            notes.repaired(RepairKind.LOST, cell.grade_id, "it was missing; put back without an answer")
        else:
            notes.repaired(RepairKind.LOST, cell.grade_id, "it is missing")


def _new_cell(cell: ReleasedCell) -> Cell:
    return {"cell_type": cell.cell_type, "source": cell.source, "id": ""}


# --------------------------------------------------------------- finishing


def _changes(slot: _Slot, owner: ReleasedCell, notes: _Notes) -> None:
    where = owner.grade_id
    if slot.tags:
        tags = ", ".join(sorted(slot.tags))
        notes.repaired(RepairKind.TAGGED, where, f"it was tagged {tags}; tags removed")
        if SKIP_TAG in slot.tags and owner.kind is Kind.TEST:
            notes.looks(EvidenceKind.SKIP_TAG, Severity.ATTACK, where, f"tagged {SKIP_TAG}, to be left out")
    if slot.cell["cell_type"] != owner.cell_type:
        what = f"it was changed to a {slot.cell['cell_type']} cell; changed back"
        notes.repaired(RepairKind.RETYPED, where, what)
    right = owner.metadata["nbgrader"]
    flags = [
        flag for flag in FLAGS if slot.claim and slot.nbgrader.get(flag, False) != right.get(flag, False)
    ]
    if flags:
        names = ", ".join(flags)
        notes.repaired(RepairKind.FLAGS, where, f"its nbgrader metadata was changed ({names}); put back")
        notes.looks(EvidenceKind.POINTS, Severity.DOUBT, where, f"its {names} had been changed")
    if owner.kind.locked and not _same(slot.source, owner.released):
        _note_edit(slot, owner, notes)


def _note_edit(slot: _Slot, owner: ReleasedCell, notes: _Notes) -> None:
    where = owner.grade_id
    if _same(slot.source, owner.source):
        notes.repaired(RepairKind.HIDDEN_TESTS, where, "it came with its hidden tests in it")
        notes.looks(EvidenceKind.HIDDEN_TESTS, Severity.ATTACK, where, "it came with its hidden tests in it")
        return
    mark = slot.nbgrader.get("checksum")
    as_released = {
        "source": slot.source,
        "cell_type": owner.cell_type,
        "metadata": {"nbgrader": owner.metadata["nbgrader"]},
    }
    if mark == checksum(as_released):
        notes.repaired(RepairKind.OTHER_RELEASE, where, "its source is that of another release; replaced")
        return
    notes.repaired(RepairKind.SOURCE, where, "its source was edited; replaced")
    notes.looks(EvidenceKind.LOCKED_CELL, Severity.DOUBT, where, "its source was edited")


def _finish(slot: _Slot) -> Cell:
    cell: Cell = copied(slot.cell)
    owner = slot.owner
    cell["metadata"] = copied(owner.metadata) if owner is not None else {}
    if owner is not None and owner.kind is not Kind.PLAIN:
        cell["cell_type"] = owner.cell_type
        cell["source"] = owner.source if owner.kind.locked else cell["source"]
        cell["metadata"]["nbgrader"]["checksum"] = owner.checksum
    if cell["cell_type"] == "code":
        cell.pop("attachments", None)
        cell |= {"outputs": [], "execution_count": None}
    return cell


def _name_cells(cells: list[Cell], slots: Sequence[_Slot]) -> None:
    """Give every cell an id of its own: the released one, else its own, else a new one."""
    taken: set[str] = set()
    for cell, slot in zip(cells, slots, strict=True):
        if slot.owner is not None and slot.owner.kind is not Kind.PLAIN:
            cell["id"] = slot.owner.cell_id or slot.owner.grade_id[:64]
            taken.add(cell["id"])
    for number, (cell, slot) in enumerate(zip(cells, slots, strict=True)):
        if slot.owner is not None and slot.owner.kind is not Kind.PLAIN:
            continue
        if not cell["id"] or cell["id"] in taken:
            text = f"{number} {cell['source']}"
            digest = hashlib.sha256(text.encode()).hexdigest()
            free = (digest[start : start + 8] for start in range(56))
            cell["id"] = next(name for name in free if name not in taken)
        taken.add(cell["id"])
