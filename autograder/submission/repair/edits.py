"""What kind of change a locked cell was given."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from autograder.course.released import Kind, checksum
from autograder.submission.repair.given import dense, plain
from autograder.submission.repair.python import meaning

if TYPE_CHECKING:
    from autograder.submission.repair.work import Place, Slot, Work

_LINE = 6


class Edit(Enum):
    """What happened to a cell that was handed out."""

    NONE = auto()
    """Nothing that a reader sees."""
    OTHER_RELEASE = auto()
    """It is as another release had it."""
    HIDDEN = auto()
    """Hidden tests are in it."""
    LAYOUT = auto()
    """Blanks, line breaks, quotes or comments."""
    ADDED = auto()
    """Everything is there, and more."""
    BROKEN = auto()
    """It is no Python any longer."""
    TEXT = auto()
    """Words, which nothing runs."""
    CHANGED = auto()
    """Given code is another."""
    WEAKENED = auto()
    """A test is another."""


def edit_of(slot: Slot, place: Place, work: Work) -> Edit:
    """
    Return what happened to a cell.

    Parameters
    ----------
    slot : Slot
        The cell as it was handed in.
    place : Place
        The cell of the release that it is.
    work : Work
        The notebook.

    Returns
    -------
    Edit
        What happened; of an answer only whether it is of another release.
    """
    if not place.cell.kind.locked:
        return Edit.OTHER_RELEASE if is_of_another_release(slot, place) else Edit.NONE
    if slot.key == place.key or dense(slot.key) == dense(place.key):
        return Edit.NONE
    if slot.key == plain(place.cell.source) or _hidden_lines(place) & _lines(slot.key):
        return Edit.HIDDEN
    if is_of_another_release(slot, place):
        return Edit.OTHER_RELEASE
    if place.cell.cell_type != "code":
        return Edit.TEXT
    return _of_code(slot, place, work)


def is_of_another_release(slot: Slot, place: Place) -> bool:
    """
    Tell whether a cell carries the checksum of what it would have been in another release.

    Parameters
    ----------
    slot : Slot
        The cell as it was handed in.
    place : Place
        The cell of the release that it is.

    Returns
    -------
    bool
        True if nbgrader made its metadata, of a locked cell with its source.
        Whoever forges a checksum gains a milder word, and nothing else.
    """
    if not slot.claim or slot.nbgrader.get("checksum") == place.cell.metadata["nbgrader"].get("checksum"):
        return False
    source = slot.source if place.cell.kind.locked else place.cell.released
    cell = {"source": source, "cell_type": place.cell.cell_type, "metadata": {"nbgrader": slot.nbgrader}}
    try:
        return bool(slot.nbgrader.get("checksum") == checksum(cell))
    except (KeyError, TypeError, ValueError, OverflowError):
        return False


def _of_code(slot: Slot, place: Place, work: Work) -> Edit:
    theirs = tuple(map(meaning, work.python.statements(slot.source)))
    right = work.given.programs.get(place.at, ())
    parses = work.python.parses(slot.source)
    if theirs == right and parses:
        return Edit.LAYOUT
    rest = iter(theirs)
    if parses and right and all(one in rest for one in right):
        return Edit.ADDED
    if place.cell.kind is not Kind.TEST:
        return Edit.CHANGED
    return Edit.WEAKENED if parses else Edit.BROKEN


def _hidden_lines(place: Place) -> set[str]:
    return _lines(plain(place.cell.source)) - _lines(place.key)


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.split("\n") if len(line.strip()) >= _LINE}
