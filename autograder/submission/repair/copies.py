"""
Which of several copies of a cell counts.

The rule is what the student's own kernel would do, run from top to bottom: of
two answers the last one above its test counts. What was handed out never
undoes an answer, wherever a copy of it stands.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.findings import RepairKind
from autograder.statements import names_bound, needed_by
from autograder.submission.repair.given import plain
from autograder.submission.repair.python import UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.statements import Statement
    from autograder.submission.repair.work import Place, Slot, Work


def choose(copies: Sequence[Slot], place: Place, work: Work) -> None:
    """
    Let one of the slots that claim a cell be it.

    Parameters
    ----------
    copies : sequence of Slot
        At least one, in order.
    place : Place
        The cell.
    work : Work
        The notebook; copies that say nothing of their own are taken out of it.
    """
    if len(copies) == 1:
        copies[0].owner = place
        return
    if place.cell.kind.locked:
        kept, gone, done = _locked(copies, place, work)
    elif place.cell.kind is Kind.MANUAL:
        kept, gone, done = _written(copies, place)
    else:
        kept, gone, done = _code(copies, place, work)
    kept.owner = place
    for slot in copies:
        slot.spare = slot is not kept
    work.remove(gone)
    if any(slot.key == place.key for slot in gone):
        keep_given(kept, place, work)
    kind = RepairKind.JOINED if done == "joined" else RepairKind.COPIED
    work.notes.repaired(kind, place.cell.grade_id, f"there were {len(copies)} copies of it; {done}")


def keep_given(answer: Slot, place: Place, work: Work) -> None:
    """
    Put above an answer the helpers that its stub gives, if the stub was left out and the answer lacks them.

    Parameters
    ----------
    answer : Slot
        What stands for the cell now.
    place : Place
        The cell.
    work : Work
        The notebook, without the stub.
    """
    if not answer.is_code or place.cell.kind.locked or not work.python.parses(answer.source):
        return
    mine = work.python.statements(answer.source)
    stub = [
        one
        for one in work.python.statements(place.cell.released)
        if not UNFINISHED.search(one.text) and not one.binds & names_bound(mine)
    ]
    helpers = [one for one in needed_by(mine, stub) if not _is_defined(one, answer, work)]
    if helpers:
        answer.write("\n\n\n".join([*(one.text for one in helpers), answer.source]))


def _is_defined(helper: Statement, answer: Slot, work: Work) -> bool:
    """Tell whether another cell above an answer defines what its stub gives."""
    above = itertools.takewhile(lambda slot: slot is not answer, work.slots)
    return any(
        slot.is_code and helper.binds & work.python.words(slot.source) & work.python.binds(slot.source)
        for slot in above
    )


def _locked(copies: Sequence[Slot], place: Place, work: Work) -> tuple[Slot, list[Slot], str]:
    """Keep one that nobody edited: of what is given the first, of a test the first below its answers."""
    as_given = {place.key, plain(place.cell.source)}
    pool = [slot for slot in copies if slot.key in as_given] or copies
    kept = pool[0]
    if place.cell.kind is Kind.TEST:
        judged = {at for at, judge in work.given.judges.items() if judge == place.at}
        answers = [one.at for one in work.slots if one.owner is not None and one.owner.at in judged]
        kept = next((slot for slot in pool if slot.at > max(answers, default=-1)), pool[-1])
    # Code that is given may have been copied to run again.
    runs_again = place.cell.kind is Kind.READONLY and place.cell.cell_type == "code"
    gone = [] if runs_again else [slot for slot in copies if slot is not kept and slot.key in as_given]
    return kept, gone, "one of them counts"


def _written(copies: Sequence[Slot], place: Place) -> tuple[Slot, list[Slot], str]:
    """Join what was written, for a person to read."""
    answers = _answers(copies, place)
    kept = answers[0] if answers else copies[0]
    gone = [slot for slot in copies if slot is not kept]
    if len(answers) > 1:
        kept.write("\n\n".join(slot.source for slot in answers))
        return kept, gone, "joined"
    return kept, gone, "the others said nothing else"


def _code(copies: Sequence[Slot], place: Place, work: Work) -> tuple[Slot, list[Slot], str]:
    """Keep the last answer above the test that asks for it."""
    answers = _answers(copies, place)
    if len(answers) < 2:  # noqa: PLR2004 - nothing to choose
        kept = answers[0] if answers else copies[0]
        return kept, [slot for slot in copies if slot is not kept], "the others said nothing else"
    test_at = _test_at(place, work)
    above = [slot for slot in answers if slot.at < test_at] or answers
    wanted = work.given.wanted.get(place.at, frozenset())
    defining = [slot for slot in above if work.python.binds(slot.source) & wanted] or above
    finished = [slot for slot in defining if not UNFINISHED.search(slot.source)] or defining
    kept = finished[-1]
    for slot in defining:
        if slot.at > kept.at:
            # An older state, pasted below: run, it would undo the answer.
            slot.cell["cell_type"] = "raw"
    own = set(map(id, answers))
    gone = [slot for slot in copies if id(slot) not in own]
    return kept, gone, "the last finished one above its test counts"


def _answers(copies: Sequence[Slot], place: Place) -> list[Slot]:
    """Return the copies with something of the student's, once each if the same stands twice in a row."""
    mine = [slot for slot in copies if slot.key not in {"", place.key}]
    return [slot for at, slot in enumerate(mine) if at == 0 or slot.key != mine[at - 1].key]


def _test_at(place: Place, work: Work) -> float:
    """Return where the test of an answer stands; of several the last."""
    judge = work.given.judges.get(place.at)
    name = work.places[judge].cell.grade_id if judge is not None else ""
    return max((slot.at for slot in work.slots if name and slot.claim == name), default=float("inf"))
