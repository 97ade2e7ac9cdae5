"""
Cells that were split, put together again.

Splitting copies a cell's metadata, or gives the second part none. Cut through
a function, neither part need be Python.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.findings import RepairKind
from autograder.repair.given import dense
from autograder.repair.python import MAX_CELL
from autograder.repair.work import Slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.repair.work import Place, Work

MAX_PARTS = 8
_CUT_OFF = re.compile(r"[ \t]|(?:else|elif|except|finally)\b|[)\]}]")


def join_parts(work: Work) -> None:
    """
    Put the parts of split cells together again.

    Parameters
    ----------
    work : Work
        Its slots become fewer.
    """
    _Parts(work).join()


class _Parts:
    def __init__(self, work: Work) -> None:
        self._work = work
        self._python = work.python
        self._by_grade_id = {place.cell.grade_id: place for place in work.places if place.cell.grade_id}
        self._texts = {place.key for place in work.places if place.cell.kind.locked}
        self._dense = set(map(dense, self._texts))
        self._first_lines = {text.split("\n", 1)[0] for text in self._texts if "\n" in text}

    def join(self) -> None:
        slots, kept = self._work.slots, []
        at = 0
        while at < len(slots):
            count, source = self._whole(slots, at)
            kept.append(self._joined(slots[at : at + count], source) if count > 1 else slots[at])
            at += count
        self._work.slots = kept

    def _whole(self, slots: list[Slot], at: int) -> tuple[int, str]:
        """Return how many parts of one cell begin at a slot, and their text."""
        best = 1, slots[at].source
        for count in range(2, MAX_PARTS + 1):
            parts = slots[at : at + count]
            if len(parts) < count or not self._may_belong(parts[0], parts[-1]):
                break
            if sum(len(part.source) for part in parts) > MAX_CELL:
                break
            source = next((one for one in self._texts_of(best, parts) if self._is_one(one, parts)), None)
            if source is not None:
                best = count, source
        return best

    @staticmethod
    def _texts_of(best: tuple[int, str], parts: list[Slot]) -> Iterator[str]:
        known, text = best
        rest = [part.source for part in parts[known:]]
        yield "\n".join([text, *rest])
        yield "".join([text, *rest])

    def _may_belong(self, first: Slot, other: Slot) -> bool:
        """Tell whether a cell may be a later part of another, before any of them is parsed."""
        mine, theirs = self._place(first), self._place(other)
        if first.cell["cell_type"] != other.cell["cell_type"]:
            return False
        if mine is not None and theirs is not None:
            return mine is theirs
        if self._starts_given(first) and theirs is None:
            return True
        if (mine or theirs) is not None and (mine or theirs).cell.kind.locked:  # type: ignore[union-attr]
            return False
        return first.is_code and not self._is_given(first) and not self._is_given(other)

    def _place(self, slot: Slot) -> Place | None:
        return self._by_grade_id.get(slot.claim)

    def _is_given(self, slot: Slot) -> bool:
        return slot.key in self._work.given.texts

    def _starts_given(self, slot: Slot) -> bool:
        """Tell whether a cell without its metadata begins as a locked one."""
        first = slot.key.split("\n", 1)[0]
        return not slot.claim and first in self._first_lines and slot.key not in self._texts

    def _is_one(self, source: str, parts: list[Slot]) -> bool:
        """Tell whether parts are one cell."""
        place = self._place(parts[0])
        if place is not None and place.cell.kind.locked:
            return dense(source) == dense(place.key)
        if self._starts_given(parts[0]) and dense(source) in self._dense:
            return True
        if not parts[0].is_code or any(part.key == "" for part in parts) or self._python.is_spent:
            return False
        return self._is_cut(source, parts) or self._are_apart(parts)

    def _is_cut(self, source: str, parts: list[Slot]) -> bool:
        """Tell whether parts make sense together, and one of them does not alone."""
        first, last = parts[0], parts[-1]
        if first.key in self._work.given.texts:
            return False
        looks_cut = _CUT_OFF.match(last.source.lstrip("\n")) is not None
        if not looks_cut and self._python.parses(first.source) and self._python.parses(last.source):
            return False
        alone = looks_cut and self._python.parses(_dedented(last.source))
        if alone and not (first.claim and first.claim == last.claim) and not self._work.is_unmarked:
            # IPython runs an indented cell, and it may be one of its own.
            return False
        return self._python.parses(source)

    def _are_apart(self, parts: list[Slot]) -> bool:
        """Tell whether copies of one answer define different things: then it was split between them."""
        if len({part.claim for part in parts}) > 1 or self._place(parts[0]) is None:
            return False
        if any(self._is_given(part) or not self._python.parses(part.source) for part in parts):
            return False
        names = [self._python.binds(part.source) for part in parts]
        return all(names) and len(frozenset[str]().union(*names)) == sum(map(len, names))

    def _joined(self, parts: list[Slot], source: str) -> Slot:
        """Return one slot for all parts."""
        marked = next((part for part in parts if self._place(part) is not None), parts[0])
        tags = tuple(dict.fromkeys(tag for part in parts for tag in part.tags))
        slot = Slot(
            cell=marked.cell | {"source": source}, nbgrader=marked.nbgrader, tags=tags, at=parts[0].at
        )
        where = slot.claim or f"cell {slot.at + 1}"
        self._work.notes.repaired(RepairKind.JOINED, where, f"it was split into {len(parts)} cells; joined")
        return slot


def _dedented(source: str) -> str:
    """Return an indented cell as IPython runs it."""
    text = source.lstrip("\n")
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indent) for line in text.split("\n"))
