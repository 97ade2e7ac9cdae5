"""
nbgrader: trees as ``submitted/<student>/<assignment>/``, and what lies in the exchange's ``inbound``.

There a folder is called ``<student>+<assignment>+<time>``, with ``+<random>``
behind it in newer versions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.course.timestamps import FILE, parse_time
from autograder.lms.downloads.levels import SUBMITTED, levels
from autograder.lms.downloads.model import Download, Left
from autograder.lms.downloads.trees import Folders
from autograder.lms.model import Lms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from autograder.lms.downloads.model import Archive, Context

_INBOUND = re.compile(
    # A student's id may hold a plus sign, as nbgrader has it.
    r"(?P<student>.+)\+(?P<assignment>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d[^+]*)(\+[^+]*)?",
    re.DOTALL,
)
_LEVELS = 2
"""Folders of a tree: the student's, then the assignment's."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Whose a file is, and what is behind so many folders."""

    student: str
    assignment: str
    depth: int
    time: datetime | None = None


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is of nbgrader.

    Parameters
    ----------
    archive : Archive
        The download, as `recognise` shows it.

    Returns
    -------
    float
        The share of the folders that are called as in the exchange, or lie in one that is
        called ``submitted``, or have a ``timestamp.txt`` beside a notebook one level below.
    """
    paths = [entry.name.split("/") for entry in archive.entries]
    is_submitted = bool(paths) and all(parts[0] == SUBMITTED for parts in paths)
    paths = [parts[1:] if is_submitted else parts for parts in paths]
    exchange = sum(len(parts) > 1 and _INBOUND.fullmatch(parts[0]) is not None for parts in paths)
    deep = [parts for parts in paths if len(parts) > _LEVELS]
    trees = sum(is_submitted or parts[_LEVELS:] == [FILE] for parts in deep)
    if 2 * len(deep) < len(paths):
        # One student's folder may look like a tree, and be in a plain one.
        trees = 0
    return max(exchange, trees) / len(paths) if paths else 0.0


def read(archive: Archive, context: Context) -> Download:
    """
    Understand a tree of nbgrader's.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in, and what.

    Returns
    -------
    Download
        One attempt for each folder; other assignments are left out.
    """
    folders = Folders(archive, context)
    around, is_exchange = _students(archive, context)
    for entry in archive.entries:
        parts = entry.name.split("/")
        found = _found(parts, around, is_exchange=is_exchange)
        if found is None:
            reason = "It lies in no folder <student>/<assignment>, where nbgrader has submissions."
            folders.left.append(Left(name=entry.name, reason=f"{reason} Put it there if it counts."))
        elif found.assignment != context.assignment:
            reason = f"It is of the assignment {found.assignment!r}, not {context.assignment!r}."
            folders.left.append(Left(name=entry.name, reason=reason, harmless=True))
        else:
            key, path = "/".join(parts[: found.depth]), "/".join(parts[found.depth :])
            folders.add(found.student, key, path, entry, found.time)
    attempts = tuple(folders.attempts())
    if not attempts:
        reason = f"Nothing in it is of the assignment {context.assignment!r}. Name the right assignment."
        folders.left.append(Left(name=archive.where, reason=reason))
    return Download(lms=Lms.NBGRADER, attempts=attempts, left=tuple(folders.left))


def _students(archive: Archive, context: Context) -> tuple[tuple[str, ...], bool]:
    """Return which folders are around those of the students, and whether these are of the exchange."""
    around: tuple[str, ...] = ()
    for level in levels(archive.entries, context.people):
        if level.around[-1:] == (SUBMITTED,):
            around = level.around
        if SUBMITTED in level.folders:
            continue
        exchange = sum(_INBOUND.fullmatch(name) is not None for name in level.folders)
        if exchange and 2 * exchange >= len(level.folders):
            return level.around, True
        # What lies deeper has been named by students: the first level with the assignment is theirs.
        if any(len(parts) > 1 and parts[0] == context.assignment for parts in level.inside()):
            return level.around, False
    return around, False


def _found(parts: Sequence[str], around: tuple[str, ...], *, is_exchange: bool) -> _Place | None:
    """Return where a file lies; None if in no folder of a student's."""
    start = len(around)
    if tuple(parts[:start]) != around:
        return None
    if is_exchange:
        match = _INBOUND.fullmatch(parts[start]) if len(parts) > start + 1 else None
        return (
            _Place(match["student"], match["assignment"], start + 1, _time(match["time"])) if match else None
        )
    depth = start + _LEVELS
    return _Place(parts[start], parts[start + 1], depth) if len(parts) > depth else None


def _time(words: str) -> datetime | None:
    try:
        return parse_time(words)
    except (ValueError, ArithmeticError):
        return None
