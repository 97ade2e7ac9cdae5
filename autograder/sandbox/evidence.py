"""Evidence of one notebook, gathered while its cells and its checks run: alike joined, bounded in number."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.findings import Evidence, EvidenceKind, Severity, bounded
from autograder.sandbox.modules import of_files
from autograder.sandbox.suspicions import NETWORK, OFTEN, Suspicion, suspicion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autograder.sandbox.forged import Forged
    from autograder.sandbox.notes import Note

MAX_EVIDENCE = 20
"""Pieces of evidence that are told of one notebook."""

_MAX_GROUPS = 200
_MAX_KEPT = 50
_MAX_TOLD = 3
_MAX_TARGET = 80
_ORDER = (Severity.ATTACK, Severity.DOUBT, Severity.NOTICE)


@dataclass(slots=True)
class _Alike:
    """What was done with one word, wherever and to whatever."""

    kind: EvidenceKind
    severity: Severity
    places: dict[str, None] = field(default_factory=dict)
    targets: dict[str, None] = field(default_factory=dict)
    count: int = 0


class Gathered:
    """What looks like tampering in one notebook."""

    def __init__(self) -> None:
        self._found: dict[str, _Alike] = {}

    def add(self, where: str, found: Suspicion, count: int = 1) -> None:
        """
        Add something that was done.

        Parameters
        ----------
        where : str
            The cell, or the file.
        found : Suspicion
            What it looks like.
        count : int
            How often it was done.
        """
        if found.what not in self._found and len(self._found) >= _MAX_GROUPS:
            return
        alike = self._found.setdefault(found.what, _Alike(found.kind, found.severity))
        if found.what == NETWORK and any(found.target in one != found.target for one in alike.targets):
            # A host after its address: one and the same attempt.
            return
        alike.severity = min(alike.severity, found.severity, key=_ORDER.index)
        alike.count += count
        for kept, one in ((alike.places, where), (alike.targets, found.target)):
            if one and len(kept) < _MAX_KEPT:
                kept[one] = None

    def add_notes(self, where: str, notes: Iterable[Note], *, given: str = "", hidden: bool = False) -> None:
        """
        Add what a worker noted of one cell.

        Parameters
        ----------
        where : str
            The cell.
        notes : iterable of Note
            What it noted.
        given : str
            The cell's source if it is as it was handed out: what an
            instructor's own words do is no evidence, and no accident of a student's.
        hidden : bool
            True if a hidden check called the code: then targets, which may tell
            what it asked with, are left out.
        """
        for note in notes:
            found = suspicion(note)
            if found is None or (given and (found.severity is Severity.NOTICE or _names(given, note))):
                continue
            self.add(
                where, Suspicion(found.kind, found.severity, found.what) if hidden else found, note.count
            )

    def add_forged(self, where: str, forged: Forged) -> None:
        """Add what was seen on the connection to a worker while a cell ran."""
        self.add(where, Suspicion(EvidenceKind.FORGED_FRAME, forged.severity, forged.detail))

    def add_files(self, paths: Iterable[str]) -> None:
        """Add what the files look like that a student handed in beside the notebook."""
        for severity, what, path in of_files(paths):
            self.add(path, Suspicion(EvidenceKind.FAKE_MODULE, severity, what))

    def evidence(self) -> tuple[Evidence, ...]:
        """Return all of it, the worst first; of more than 20 pieces the first."""
        told = [_told(what, alike) for what, alike in self._found.items()]
        told.sort(key=lambda one: _ORDER.index(one.severity))
        return tuple(told[:MAX_EVIDENCE])


def _told(what: str, alike: _Alike) -> Evidence:
    severity = alike.severity
    if what in OFTEN:
        times, different, worse = OFTEN[what]
        if alike.count >= times and len(alike.targets) >= different:
            severity = min(severity, worse, key=_ORDER.index)
    detail = what
    if alike.targets:
        targets = [one if len(one) <= _MAX_TARGET else f"{one[:_MAX_TARGET]}…" for one in alike.targets]
        more = len(targets) - _MAX_TOLD
        detail += f": {', '.join(targets[:_MAX_TOLD])}" + (f" and {more} more" if more > 0 else "")
    places = [*alike.places]
    if alike.count > 1:
        detail += f", {alike.count} times"
    if len(places) > 1:
        detail += f", also in {', '.join(places[1 : _MAX_TOLD + 1])}" + (
            " and others" if len(places) > _MAX_TOLD + 1 else ""
        )
    return Evidence(
        kind=alike.kind,
        severity=severity,
        where=bounded(places[0] if places else "notebook"),
        detail=bounded(detail),
    )


def _names(source: str, note: Note) -> bool:
    """Tell whether a cell that was handed out does itself what was noted."""
    if note.kind == "call" and note.target:
        return note.target in source
    word = re.split(r"[._]", note.what)[-1 if note.kind == "call" else 0]
    if note.kind == "replaced":
        name = re.escape(note.what.rpartition(".")[2])
        return re.search(rf"\b{name}\b[^\n]*[^=!<>]=[^=]|setattr|patch", source) is not None
    return bool(word) and word in source
