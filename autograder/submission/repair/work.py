"""A submitted notebook on its way through the repair."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from autograder.findings import Evidence, EvidenceKind, Repair, RepairKind, Severity, bounded
from autograder.submission.repair.given import Given, given, plain
from autograder.submission.repair.python import meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.course.released import ReleasedCell, ReleasedNotebook
    from autograder.notebook import Cell
    from autograder.statements import Statement
    from autograder.submission.repair.python import Python

MAX_ALIKE = 20
"""Findings of one kind that are told one by one: a student may hand in a million damaged cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """
    Where a cell of the release stands.

    Parameters
    ----------
    at : int
        Its number in the release, from 0.
    cell : ReleasedCell
        The cell.
    """

    at: int
    cell: ReleasedCell

    @property
    def key(self) -> str:
        """What students got, as `plain` returns it."""
        return plain(self.cell.released)


@dataclass(slots=True, kw_only=True, eq=False)
class Slot:
    """
    A cell on its way through the repair.

    Parameters
    ----------
    cell : dict
        Type, source, id and attachments.
    nbgrader : mapping
        The metadata that it came with.
    tags : tuple of str
        Its tags.
    at : int
        Its number in the submission, from 0.
    owner : Place, optional
        The cell of the release that it is.
    spare : bool
        True if another copy stands for the cell that it claims to be.
    new : bool
        True if the repair put it in.
    torn_off : bool
        True if it was a part of a merged cell.
    """

    cell: Cell
    nbgrader: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    at: int = -1
    owner: Place | None = None
    spare: bool = False
    new: bool = False
    torn_off: bool = False
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = plain(self.source)

    @property
    def claim(self) -> str:
        """The grade_id that it came with."""
        grade_id = self.nbgrader.get("grade_id")
        return grade_id if isinstance(grade_id, str) else ""

    @property
    def source(self) -> str:
        """Its text."""
        return str(self.cell["source"])

    @property
    def is_code(self) -> bool:
        """True if it would be run."""
        return bool(self.cell["cell_type"] == "code")

    def write(self, source: str) -> None:
        """Give it another text."""
        self.cell["source"] = source
        self.key = plain(source)


class Notes:
    """What was found so far; of findings that are all alike the first ones, and how many more there are."""

    def __init__(self) -> None:
        self._repairs: list[Repair] = []
        self._evidence: list[Evidence] = []
        self._counts: Counter[RepairKind | EvidenceKind] = Counter()

    def repaired(self, kind: RepairKind, where: str, detail: str) -> None:
        """Note a repair."""
        self._counts[kind] += 1
        if self._counts[kind] <= MAX_ALIKE:
            self._repairs.append(Repair(kind=kind, where=bounded(where), detail=bounded(detail)))

    def looks(self, kind: EvidenceKind, severity: Severity, where: str, detail: str) -> None:
        """Note what looks like tampering."""
        self._counts[kind] += 1
        if self._counts[kind] <= MAX_ALIKE:
            self._evidence.append(Evidence(kind=kind, severity=severity, where=bounded(where), detail=detail))

    @property
    def repairs(self) -> list[Repair]:
        """What was put right."""
        more = {kind: self._counts[kind] - MAX_ALIKE for kind in RepairKind}
        return self._repairs + [
            Repair(kind=kind, where="notebook", detail=f"{count} more cells like these")
            for kind, count in more.items()
            if count > 0
        ]

    @property
    def evidence(self) -> list[Evidence]:
        """What looks like tampering."""
        last = {one.kind: one for one in self._evidence}
        return self._evidence + [
            replace(one, where="notebook", detail=f"{self._counts[kind] - MAX_ALIKE} more cells like these")
            for kind, one in last.items()
            if self._counts[kind] > MAX_ALIKE
        ]


class Work:
    """
    A notebook on its way.

    Parameters
    ----------
    released : ReleasedNotebook
        What was handed out.
    python : Python
        Parses cells.

    Attributes
    ----------
    places : tuple of Place
        The cells of the release, plain ones included.
    slots : list of Slot
        The cells of the submission, in order.
    notes : Notes
        What was found.
    unmarked : list of Place
        Cells whose nbgrader metadata was gone.
    """

    def __init__(self, released: ReleasedNotebook, python: Python) -> None:
        self._released = released
        self._given: Given | None = None
        self.places = tuple(Place(at, cell) for at, cell in enumerate(released.layout))
        self.slots: list[Slot] = []
        self.python = python
        self.notes = Notes()
        self.unmarked: list[Place] = []
        self._is_unmarked: bool | None = None
        self._own: dict[Statement, bool] = {}
        self._mentions: dict[str, list[Slot]] | None = None

    @property
    def given(self) -> Given:
        """What the release gives; only a notebook that needs it pays for it."""
        if self._given is None:
            self._given = given(self._released)
        return self._given

    @property
    def is_unmarked(self) -> bool:
        """True if no cell has the metadata that nbgrader gave it, as after Google Colab."""
        if self._is_unmarked is None:
            known = {place.cell.grade_id for place in self.places if place.cell.grade_id}
            self._is_unmarked = not any(slot.claim in known for slot in self.slots)
        return self._is_unmarked

    def is_own(self, statement: Statement) -> bool:
        """Tell whether a statement is the student's, and not what was handed out."""
        if statement not in self._own:
            self._own[statement] = meaning(statement) not in self.given.meanings
        return self._own[statement]

    def mentioning(self, names: frozenset[str]) -> set[int]:
        """Return the ids, as of `id`, of the slots in which one of the names to be defined stands."""
        if self._mentions is None:
            self._mentions = {name: [] for wanted in self.given.wanted.values() for name in wanted}
            for slot in self.slots:
                for name in self._mentions.keys() & self.python.words(slot.source):
                    self._mentions[name].append(slot)
        return {id(slot) for name in names for slot in self._mentions.get(name, ())}

    def owned(self) -> dict[int, Slot]:
        """Return the slot of each place that has one."""
        return {slot.owner.at: slot for slot in self.slots if slot.owner is not None}

    def remove(self, slots: Iterable[Slot]) -> None:
        """Leave out slots."""
        gone = set(map(id, slots))
        if gone:
            self.slots = [slot for slot in self.slots if id(slot) not in gone]
