"""
nbgrader: trees as ``submitted/<student>/<assignment>/``, and what lies in the exchange's ``inbound``.

There a folder is called ``<student>+<assignment>+<time>``, with ``+<random>``
behind it in newer versions.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from autograder.course.timestamps import FILE, parse_time
from autograder.lms.downloads.model import Download, Left
from autograder.lms.downloads.owners import common_folders
from autograder.lms.downloads.trees import Folders
from autograder.lms.model import Lms

if TYPE_CHECKING:
    from datetime import datetime

    from autograder.lms.downloads.model import Archive, Context

_INBOUND = re.compile(
    # A student's id may hold a plus sign, as nbgrader has it.
    r"(?P<student>.+)\+(?P<assignment>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d[^+]*)(\+[^+]*)?",
    re.DOTALL,
)
_SUBMITTED = "submitted"
_LEVELS = 2
"""Folders of a tree: the student's, then the assignment's."""


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is of nbgrader.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    float
        The share of the entries that lie in a folder of the exchange, or in a tree
        that is called ``submitted`` or has a ``timestamp.txt`` where nbgrader puts it.
    """
    entries = [entry.name.split("/") for entry in archive.entries]
    if not entries:
        return 0.0
    inbound = sum(any(_INBOUND.fullmatch(part) for part in parts[:-1]) for parts in entries)
    start = _start(archive)
    trees = [parts for parts in entries if len(parts) > start + _LEVELS]
    is_named = start > 0 and entries[0][start - 1] == _SUBMITTED
    stamped = any(parts[start + _LEVELS :] == [FILE] for parts in trees)
    return max(inbound, len(trees) if is_named or stamped else 0) / len(entries)


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
    start = _start_of(archive, context.assignment)
    for entry in archive.entries:
        parts = entry.name.split("/")
        at = next((place for place, part in enumerate(parts[:-1]) if _INBOUND.fullmatch(part)), None)
        found = _INBOUND.fullmatch(parts[at]) if at is not None else None
        if at is not None and found is not None:
            student, assignment, time = found["student"], found["assignment"], _time(found["time"])
        elif len(parts) > start + _LEVELS:
            at = start + 1
            student, assignment, time = parts[start], parts[at], None
        else:
            reason = "It lies in no folder <student>/<assignment>, where nbgrader has submissions."
            folders.left.append(Left(name=entry.name, reason=f"{reason} Put it there if it counts."))
            continue
        if assignment != context.assignment:
            reason = f"It is of the assignment {assignment!r}, not {context.assignment!r}."
            folders.left.append(Left(name=entry.name, reason=reason, harmless=True))
            continue
        folders.add(student, "/".join(parts[: at + 1]), "/".join(parts[at + 1 :]), entry, time)
    attempts = tuple(folders.attempts())
    if not attempts:
        reason = f"Nothing in it is of the assignment {context.assignment!r}. Name the right assignment."
        folders.left.append(Left(name=archive.where, reason=reason))
    return Download(lms=Lms.NBGRADER, attempts=attempts, left=tuple(folders.left))


def _start(archive: Archive) -> int:
    """Return how many folders seem to stand around those of the students."""
    common = common_folders(archive.entries)
    if _SUBMITTED in common:
        return common.index(_SUBMITTED) + 1
    # A tree of one student has that student's folder around all else, and may have the assignment's.
    deepest = min((entry.name.count("/") for entry in archive.entries), default=0)
    return max(min(len(common), deepest - _LEVELS), 0)


def _start_of(archive: Archive, assignment: str) -> int:
    """Return how many folders stand around those of the students, the assignment's name being known."""
    places = Counter(
        place
        for entry in archive.entries
        for place, part in enumerate(entry.name.split("/")[:-1])
        if part == assignment and place
    )
    return places.most_common(1)[0][0] - 1 if places else _start(archive)


def _time(words: str) -> datetime | None:
    try:
        return parse_time(words)
    except (ValueError, ArithmeticError):
        return None
