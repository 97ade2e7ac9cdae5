"""
Code that a student wrote elsewhere than in its answer cell, brought to where it counts.

An answer cell that is missing, empty or as it was handed out is looked for by
the names it is to define: in the student's own cells, in other answers, in
what was typed into locked cells. Of several the last above its test counts,
else the last at all. It runs before the test that asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.findings import RepairKind
from autograder.statements import names_bound, needed_by
from autograder.submission.repair.arranging import insert, new_slot
from autograder.submission.repair.copies import keep_given
from autograder.submission.repair.python import UNFINISHED
from autograder.submission.repair.work import Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autograder.statements import Statement
    from autograder.submission.repair.work import Place, Work


@dataclass(frozen=True, slots=True)
class _Donor:
    """A cell that defines what an answer is to define."""

    at: int
    slot: Slot
    statements: tuple[Statement, ...]
    runs: bool
    """It runs above the test."""


def find_answers(work: Work) -> None:
    """
    Fill the code answers that are missing with what the student wrote elsewhere.

    Parameters
    ----------
    work : Work
        The notebook; its owned slots are in the order of the release.
    """
    owned = work.owned()
    for place in work.places:
        if place.cell.cell_type == "code" and place.cell.kind in {Kind.SOLUTION, Kind.MANUAL}:
            slot = owned.get(place.at)
            if slot is None or slot.key in {"", place.key}:
                _find(place, slot, work)
                owned = work.owned()
            elif lacking := _lacking(slot, place, work):
                _complete(place, slot, lacking, work)


def bring_helpers(moved: Iterable[Slot], work: Work) -> None:
    """
    Define above answers that were moved what the student defines below them.

    Parameters
    ----------
    moved : iterable of Slot
        The answers.
    work : Work
        The notebook.
    """
    for slot in moved:
        at = next((at for at, one in enumerate(work.slots) if one is slot), None)
        mine = work.python.statements(slot.source)
        if at is not None and slot.is_code and mine:
            helpers = _helpers(mine, (), at, work)
            if helpers:
                work.slots.insert(at, _cell("\n\n".join(one.text for one in helpers)))
                names = ", ".join(sorted(names_bound(helpers)))
                told = f"{names} stood below it and is needed; copied above it"
                work.notes.repaired(RepairKind.MOVED, slot.claim, told)


# -------------------------------------------------------------- what is missing


def _lacking(slot: Slot, place: Place, work: Work) -> frozenset[str]:
    """Return the names that an answer should define and does not, or only as it was handed out."""
    wanted = work.given.wanted.get(place.at, frozenset())
    # Most answers say so at once; only others are parsed.
    if UNFINISHED.search(slot.source) is None and all(
        any(sign in slot.source for sign in (f"def {name}", f"class {name}", f"{name} =", f"{name}="))
        for name in wanted
    ):
        return frozenset()
    if not work.python.parses(slot.source):
        return frozenset() if wanted & work.python.words(slot.source) else wanted
    mine = (
        one
        for one in work.python.statements(slot.source)
        if work.is_own(one) or not UNFINISHED.search(one.text)
    )
    return wanted - names_bound(mine)


def _complete(place: Place, slot: Slot, lacking: frozenset[str], work: Work) -> None:
    """Define below an answer what it lacks, if the student has written it elsewhere and it does not run."""
    at = _index(slot, work)
    undone = lacking & work.python.binds(slot.source)
    donors = _chosen(lacking, _donors(lacking, place, slot, work))
    if all(donor.runs and (donor.at > at or not undone) for donor in donors):
        return
    work.slots.insert(at + 1, _cell(_extract(place, donors, lacking, at, work)))
    where = ", ".join(dict.fromkeys(_where(donor.slot) for donor in donors))
    names = ", ".join(sorted(lacking & _names(donors)))
    _tell(place, f"it does not define {names}; found in {where} and copied below it", work)


def _find(place: Place, slot: Slot | None, work: Work) -> None:
    """Fill an answer that is not there, or as it was handed out."""
    wanted = work.given.wanted.get(place.at, frozenset())
    donors = _chosen(wanted, _donors(wanted, place, slot, work))
    first, last = _gap(place, work)
    if donors and _can_stand(donors, first, last, work):
        if slot is not None:
            work.remove([slot])
        donors[-1].slot.owner = place
        if slot is not None:
            keep_given(donors[-1].slot, place, work)
        _tell_found(place, donors[-1].slot, "missing" if slot is None else "as it was handed out", work)
    elif donors:
        at = _index(slot, work) if slot is not None else last
        source = _extract(place, donors, wanted, at, work)
        if slot is not None:
            slot.write(source)
        else:
            work.slots = insert(work.slots, [new_slot(place, source)])
        where = ", ".join(dict.fromkeys(_where(donor.slot) for donor in donors))
        _tell(place, f"its code was found in {where}; copied to its place", work)
    elif slot is None:
        _by_place(place, work.slots[first:last], wanted, work)


def _by_place(place: Place, between: Sequence[Slot], wanted: frozenset[str], work: Work) -> None:
    """Let the student's own cell in the place of a lost answer stand for it, if nothing speaks against it."""
    likely = [
        slot
        for slot in between
        if slot.owner is None
        and slot.is_code
        and slot.key
        and slot.key not in work.given.texts
        and (not wanted or (wanted & work.python.words(slot.source) and not work.python.parses(slot.source)))
    ]
    if likely:
        longest = max(likely, key=lambda slot: len(slot.source))
        longest.owner = place
        _tell_found(place, longest, "missing", work)
    elif place.cell.kind is Kind.MANUAL:
        work.slots = insert(work.slots, [new_slot(place)])
        work.notes.repaired(
            RepairKind.LOST, place.cell.grade_id, "it was missing; put back without an answer"
        )
    else:
        work.notes.repaired(RepairKind.LOST, place.cell.grade_id, "it is missing")


def _gap(place: Place, work: Work) -> tuple[int, int]:
    """Return between which indices a cell may stand."""
    first, last = 0, len(work.slots)
    for at, slot in enumerate(work.slots):
        if slot.owner is not None and slot.owner.at < place.at:
            first = at + 1
        elif slot.owner is not None and slot.owner.at > place.at:
            return first, at
    return first, last


# ------------------------------------------------------------- where it may be


def _donors(wanted: frozenset[str], place: Place, own: Slot | None, work: Work) -> list[_Donor]:
    """Return the cells that define one of the names, as a student wrote it."""
    judge = work.given.judges.get(place.at)
    test_at = next(
        (at for at, slot in enumerate(work.slots) if slot.owner is not None and slot.owner.at == judge),
        len(work.slots),
    )
    donors = []
    likely = work.mentioning(wanted)
    for at, slot in enumerate(work.slots):
        if id(slot) not in likely or slot is own or slot.key in work.given.texts:
            continue
        mine = tuple(
            one for one in work.python.statements(slot.source) if one.binds & wanted and work.is_own(one)
        )
        if mine:
            locked = slot.owner is not None and slot.owner.cell.kind.locked
            runs = at < test_at and slot.is_code and not locked and work.python.parses(slot.source)
            donors.append(_Donor(at, slot, mine, runs))
    return donors


def _chosen(wanted: frozenset[str], donors: Sequence[_Donor]) -> list[_Donor]:
    """Return for each name the last cell that defines it, those that run if they define everything."""
    running = [donor for donor in donors if donor.runs]
    defined = _names(running) & wanted
    pool = running if running and defined == _names(donors) & wanted else donors
    best = {name: donor.at for donor in pool for name in _names([donor]) & wanted}
    return [donor for donor in pool if donor.at in best.values()]


def _names(donors: Iterable[_Donor]) -> frozenset[str]:
    return frozenset(name for donor in donors for name in names_bound(donor.statements))


def _can_stand(donors: Sequence[_Donor], first: int, last: int, work: Work) -> bool:
    """Tell whether the last cell is the student's own, and stands where the answer belongs."""
    donor = donors[-1]
    return (
        first <= donor.at < last
        and donor.slot.owner is None
        and work.python.parses(donor.slot.source)
        and all(one.runs for one in donors[:-1])
    )


# --------------------------------------------------------------- bringing it


def _extract(place: Place, donors: Sequence[_Donor], wanted: frozenset[str], at: int, work: Work) -> str:
    """Return the text of definitions and of what they need, to be run at an index."""
    mine: list[Statement] = []
    for donor in donors:
        whole = work.python.statements(donor.slot.source)
        own = [one for one in whole if one in donor.statements]
        beside = [one for one in whole if one not in own and work.is_own(one) and not one.binds & wanted]
        needed = needed_by(own, beside)
        mine += [one for one in whole if one in own or one in needed]
    helpers = _helpers(mine, [donor.slot for donor in donors], at, work)
    return "\n\n".join(one.text for one in [*_as_given(place, mine, work), *helpers, *mine])


def _as_given(place: Place, mine: Sequence[Statement], work: Work) -> list[Statement]:
    """Return what was handed out in an answer cell beside the stub, if it is not defined otherwise."""
    stub = work.python.statements(place.cell.released)
    return [one for one in stub if not UNFINISHED.search(one.text) and not one.binds & names_bound(mine)]


def _helpers(mine: Sequence[Statement], known: Sequence[Slot], at: int, work: Work) -> list[Statement]:
    """Return the student's statements that these need, and that nothing above an index defines."""
    above = (work.python.binds(slot.source) for slot in work.slots[:at])
    defined = work.given.bound.union(*above, names_bound(mine))
    if not frozenset(name for one in mine for name in one.uses) - defined:
        return []
    below = [
        statement
        for slot in work.slots[at:]
        if slot not in known and slot.key not in work.given.texts
        for statement in work.python.statements(slot.source)
        if statement.binds - defined and work.is_own(statement)
    ]
    return needed_by(mine, below)


def _index(slot: Slot, work: Work) -> int:
    return next(at for at, one in enumerate(work.slots) if one is slot)


def _cell(source: str) -> Slot:
    return Slot(cell={"cell_type": "code", "source": source, "id": ""}, new=True)


def _where(slot: Slot) -> str:
    """Name a cell of the student's."""
    return (
        slot.owner.cell.grade_id
        if slot.owner is not None and slot.owner.cell.grade_id
        else f"cell {slot.at + 1}"
    )


def _tell(place: Place, detail: str, work: Work) -> None:
    work.notes.repaired(RepairKind.FOUND, place.cell.grade_id, detail)


def _tell_found(place: Place, slot: Slot, was: str, work: Work) -> None:
    """Tell that a cell of the student's is the answer; if no cell is marked, that is how all are found."""
    if slot.torn_off:
        return
    if work.is_unmarked:
        work.unmarked.append(place)
    else:
        _tell(place, f"it was {was}; the student's cell in its place stands for it", work)
