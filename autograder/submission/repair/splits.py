"""
Cells that were split, put together again.

Splitting copies a cell's metadata, or gives the second part none. Cut through
a function, neither part need be Python.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from autograder.findings import RepairKind
from autograder.submission.repair.given import dense
from autograder.submission.repair.python import MAX_CELL, UNFINISHED
from autograder.submission.repair.work import Slot

if TYPE_CHECKING:
    from autograder.submission.repair.work import Place, Work

MAX_PARTS = 8
MAX_LINES = 1000
"""Cells that may be one which was split again and again."""
_FEW = 2
"""So many parts are looked at with what is around them; a split that is repeated makes more."""
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
            count, source = self._in_pieces(slots, at) or self._whole(slots, at)
            kept.append(self._joined(slots[at : at + count], source) if count > 1 else slots[at])
            at += count
        self._work.slots = kept

    def _in_pieces(self, slots: list[Slot], at: int) -> tuple[int, str] | None:
        """Return how many cells in a row are one that was split again and again, and their text."""
        place = self._place(slots[at])
        if place is None or place.cell.cell_type != "code" or (at and slots[at - 1].claim == slots[at].claim):
            return None
        run = self._run(slots, at)
        # What was handed out may stand beside it as well.
        parts = [part for part in run if not place.key or part.key != place.key]
        source = "\n".join(part.source for part in parts)
        if len(parts) <= _FEW or len(source) > MAX_CELL or not all(part.is_code for part in parts):
            return None
        if dense(source) == dense(place.key):
            return len(run), source
        if place.cell.kind.locked or not self._python.parses(source):
            return None
        return (len(run), source) if self._are_pieces(parts, source) else None

    def _run(self, slots: list[Slot], at: int) -> list[Slot]:
        """Return the cells in a row that have one name; below a torn one also what goes on without a name."""
        first = slots[at]
        run = list(itertools.takewhile(lambda slot: slot.claim == first.claim, slots[at : at + MAX_LINES]))
        if len(run) > 1 or self._python.parses(first.source):
            return run
        more = itertools.takewhile(
            lambda slot: not slot.claim and slot.is_code and not (slot.key and self._is_given(slot)),
            slots[at + 1 : at + MAX_LINES],
        )
        run += more
        while len(run) > 1 and self._python.parses(run[-1].source):
            run.pop()
        return run

    def _are_pieces(self, parts: list[Slot], source: str) -> bool:
        """
        Tell whether parts that are Python together are no copies of each other.

        Copies share their lines, or define the same function. A line that is
        no Python alone says nothing: many functions have an `else:`.
        """
        whole = [part for part in parts if self._python.parses(part.source)]
        whole = [part for part in whole if self._python.statements(part.source)]
        if any(UNFINISHED.search(part.source) for part in whole):
            return False
        lines = [{line.strip() for line in part.key.split("\n") if line.strip()} for part in whole]
        functions = [name for one in self._python.statements(source) if one.block for name in one.binds]
        return len(functions) == len(set(functions)) and len(set().union(*lines)) == sum(map(len, lines))

    def _whole(self, slots: list[Slot], at: int) -> tuple[int, str]:
        """Return how many parts of one cell begin at a slot, and their text."""
        best = 1, slots[at].source
        for count in range(2, MAX_PARTS + 1):
            parts = slots[at : at + count]
            if len(parts) < count or not self._may_belong(parts[0], parts[-1]):
                break
            if sum(len(part.source) for part in parts) > MAX_CELL or not self._may_follow(parts):
                break
            known, text = best
            rest = [part.source for part in parts[known:]]
            for source in ("\n".join([text, *rest]), "".join([text, *rest])):
                if self._is_one(source, parts, known):
                    best = count, source
                    break
        return best

    def _may_follow(self, parts: list[Slot]) -> bool:
        """Tell whether the last part may go on where the others end."""
        first, last = parts[0], parts[-1]
        if self._starts_given(first) or _looks_cut(last):
            return True
        if (
            first.claim
            and first.claim == last.claim
            and (not last.is_code or self._python.parses(last.source))
        ):
            return True
        place = self._place(first)
        if place is not None and place.key.startswith(first.key):
            return True
        return not self._python.parses("\n".join(part.source for part in parts[:-1]))

    def _may_belong(self, first: Slot, other: Slot) -> bool:
        """Tell whether a cell may be a later part of another, before any of them is parsed."""
        mine, theirs = self._place(first), self._place(other)
        if first.cell["cell_type"] != other.cell["cell_type"]:
            return False
        if mine is not None and theirs is not None:
            return mine is theirs
        if self._starts_given(first) and theirs is None:
            return True
        if theirs is not None and theirs.cell.kind.locked:
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

    def _is_one(self, source: str, parts: list[Slot], known: int) -> bool:
        """Tell whether parts are one cell."""
        place = self._place(parts[0]) or self._place(parts[-1])
        if place is not None and dense(source) == dense(place.key):
            return True
        if self._starts_given(parts[0]) and dense(source) in self._dense:
            return True
        if not parts[0].is_code or any(part.key == "" for part in parts) or self._python.is_spent:
            return False
        return self._is_cut(source, parts, known) or self._are_apart(parts)

    def _is_cut(self, source: str, parts: list[Slot], known: int) -> bool:
        """Tell whether parts make sense together, and the last one goes on where the others end."""
        before, last = "\n".join(part.source for part in parts[:-1]), parts[-1]
        goes_on = _looks_cut(last) or not self._python.parses(last.source)
        if self._python.parses(before) and (known < len(parts) - 1 or not goes_on):
            return False
        return not self._is_given(parts[0]) and self._python.parses(source)

    def _are_apart(self, parts: list[Slot]) -> bool:
        """Tell whether copies of one answer define different things: then it was split between them."""
        place = self._place(parts[0])
        if place is None or place.cell.kind.locked or len({part.claim for part in parts}) > 1:
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


def _looks_cut(slot: Slot) -> bool:
    # IPython runs an indented cell; below a function it is the rest of it all the same.
    return _CUT_OFF.match(slot.source.lstrip("\n")) is not None
