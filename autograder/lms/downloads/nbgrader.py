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
    from collections.abc import Sequence
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
        that is called ``submitted`` or has a ``timestamp.txt`` beside a notebook.
    """
    entries = [entry.name.split("/") for entry in archive.entries]
    if not entries:
        return 0.0
    inbound = sum(any(_INBOUND.fullmatch(part) for part in parts[:-1]) for parts in entries)
    common = common_folders(archive.entries)
    trees = (_in_tree(entries, common[:start]) for start in range(len(common) + 1))
    return max(inbound, *trees) / len(entries)


def _in_tree(entries: Sequence[list[str]], around: tuple[str, ...]) -> int:
    """Return how many entries lie in a tree that is nbgrader's, these folders being around it."""
    level = len(around) + _LEVELS
    inside = [parts for parts in entries if len(parts) > level]
    beside = {tuple(parts[:-1]) for parts in inside if parts[-1].endswith(".ipynb")}
    stamped = any(parts[level:] == [FILE] and tuple(parts[:-1]) in beside for parts in inside)
    return len(inside) if stamped or around[-1:] == (_SUBMITTED,) else 0


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
    start = _start(archive, context.assignment)
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


def _start(archive: Archive, assignment: str) -> int:
    """Return how many folders stand around those of the students."""
    places = Counter(
        place
        for entry in archive.entries
        for place, part in enumerate(entry.name.split("/")[:-1])
        if part == assignment and place
    )
    return places.most_common(1)[0][0] - 1 if places else 0


def _time(words: str) -> datetime | None:
    try:
        return parse_time(words)
    except (ValueError, ArithmeticError):
        return None
