"""
What was changed in the cells of a release, and how likely it was meant.

A blank, a comment or a print typed into a test is an accident; a test that no
longer asks what it asked is a question to the student. Neither has an effect:
the instructor's cells are graded.
"""

from __future__ import annotations

import difflib
from collections import Counter
from typing import TYPE_CHECKING

from autograder.course.released import Kind
from autograder.findings import EvidenceKind, RepairKind, Severity
from autograder.submission.repair.edits import Edit, edit_of

if TYPE_CHECKING:
    from autograder.submission.repair.work import Place, Slot, Work

FLAGS = ("grade", "solution", "locked", "task", "points")
SKIP_TAG = "skip-execution"
RUN_TAGS = {SKIP_TAG, "raises-exception"}
"""Tags that change how a cell runs; others are for looks."""

MAX_DETAIL, MAX_LINE, MAX_LINES = 600, 80, 6
"""Characters and lines of evidence."""

_MAX_COMPARED = 40_000
_EACH = 5
"""Cells without metadata that are named one by one."""

_TOLD = {
    Edit.LAYOUT: (Severity.NOTICE, "only its layout or its comments were changed"),
    Edit.ADDED: (Severity.NOTICE, "lines were added to it"),
    Edit.BROKEN: (Severity.NOTICE, "it was changed and would not run"),
    Edit.TEXT: (Severity.NOTICE, "its text was changed"),
    Edit.CHANGED: (Severity.NOTICE, "code that is given was changed"),
    Edit.WEAKENED: (Severity.DOUBT, "what the test asks was changed"),
}


def note_changes(work: Work) -> None:
    """
    Note what was changed in every cell of the release that was handed in.

    Parameters
    ----------
    work : Work
        The notebook, arranged.
    """
    _note_unmarked(work)
    for slot in work.slots:
        if slot.owner is not None and slot.owner.cell.kind is not Kind.PLAIN and not slot.new:
            _note(slot, slot.owner, work)


def _note_unmarked(work: Work) -> None:
    """Note cells without metadata: one by one if they are few, else all at once."""
    names = [place.cell.grade_id for place in sorted(work.unmarked, key=lambda place: place.at)]
    if len(names) <= _EACH:
        for name in names:
            work.notes.repaired(RepairKind.STRIPPED, name, "its nbgrader metadata was removed; put back")
        return
    told = f"{len(names)} cells had lost their nbgrader metadata, as in Google Colab; found by what they are"
    work.notes.repaired(RepairKind.STRIPPED, "notebook", told)


def _note(slot: Slot, place: Place, work: Work) -> None:
    where = place.cell.grade_id
    released_tags = place.cell.metadata.get("tags") or ()
    tags = sorted({tag for tag in slot.tags if tag in RUN_TAGS and tag not in released_tags})
    if tags:
        work.notes.repaired(RepairKind.TAGGED, where, f"it was tagged {', '.join(tags)}; tags removed")
        if SKIP_TAG in tags and place.cell.kind is Kind.TEST:
            told = f"tagged {SKIP_TAG}, to be left out"
            work.notes.looks(EvidenceKind.SKIP_TAG, Severity.ATTACK, where, told)
    if slot.cell["cell_type"] != place.cell.cell_type:
        what = f"it was changed to a {slot.cell['cell_type']} cell; changed back"
        work.notes.repaired(RepairKind.RETYPED, where, what)
    edit = edit_of(slot, place, work)
    if edit is Edit.OTHER_RELEASE:
        what = "its source is that of another release; replaced"
        work.notes.repaired(RepairKind.OTHER_RELEASE, where, what)
        return
    _note_flags(slot, place, work)
    if edit is Edit.HIDDEN:
        told = "it came with its hidden tests in it"
        work.notes.repaired(RepairKind.HIDDEN_TESTS, where, told)
        work.notes.looks(EvidenceKind.HIDDEN_TESTS, Severity.DOUBT, where, told)
    elif edit in _TOLD:
        severity, told = _TOLD[edit]
        work.notes.repaired(RepairKind.SOURCE, where, "its source was edited; replaced")
        detail = "\n".join([told, *_difference(slot, place)])
        work.notes.looks(EvidenceKind.LOCKED_CELL, severity, where, detail[:MAX_DETAIL])


def _note_flags(slot: Slot, place: Place, work: Work) -> None:
    right = place.cell.metadata["nbgrader"]
    flags = [
        flag for flag in FLAGS if slot.claim and slot.nbgrader.get(flag, False) != right.get(flag, False)
    ]
    if not flags:
        return
    where, names = place.cell.grade_id, ", ".join(flags)
    work.notes.repaired(RepairKind.FLAGS, where, f"its nbgrader metadata was changed ({names}); put back")
    was = f"{slot.nbgrader.get('points')!r:.20} points instead of {right.get('points')!r}"
    told = f"its {names} had been changed" + (f": {was}" if "points" in flags else "")
    work.notes.looks(EvidenceKind.POINTS, Severity.DOUBT, where, told)


def _difference(slot: Slot, place: Place) -> list[str]:
    """Return the changed lines of a cell, few and short: what went with a minus, what came with a plus."""
    released, mine = place.key.split("\n"), slot.key.split("\n")
    if len(released) * len(mine) <= _MAX_COMPARED:
        changes = [
            line
            for line in difflib.unified_diff(released, mine, lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@")) and line[1:].strip()
        ]
    else:
        gone, come = Counter(released) - Counter(mine), Counter(mine) - Counter(released)
        changes = [f"-{line}" for line in gone] + [f"+{line}" for line in come]
    shown = [f"{line[0]} {line[1:].strip()}"[:MAX_LINE] for line in changes[:MAX_LINES]]
    more = len(changes) - len(shown)
    return [*shown, f"and {more} more lines"] if more > 0 else shown
