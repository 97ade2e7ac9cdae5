"""Whose a folder or a file is, where its name is a student's id or name, and where in a download it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import SCHOOL_IDS, IdKind
from autograder.lms.people import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autograder.lms.downloads.model import Entry
    from autograder.lms.model import Person
    from autograder.lms.people import People

BY_HAND = (
    "See in the LMS whose it is, put it into a folder called by the student's id, "
    "and collect the folder around that (--from plain)."
)
"""What to do where no program can tell whose something is."""

_KINDS = (*SCHOOL_IDS, IdKind.USER)


def common_folders(entries: Iterable[Entry]) -> tuple[str, ...]:
    """
    Return the folders that all entries of a download lie in.

    Parameters
    ----------
    entries : iterable of Entry
        The entries.

    Returns
    -------
    tuple of str
        From the outermost; empty if there are none.
    """
    folders = [entry.name.split("/")[:-1] for entry in entries]
    shared = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return tuple(shared)


def flat(entries: Sequence[Entry]) -> list[tuple[str, Entry]]:
    """
    Return entries with their names from the folder that all of them lie in.

    Parameters
    ----------
    entries : sequence of Entry
        The entries.

    Returns
    -------
    list of (str, Entry)
        In their order.
    """
    depth = len(common_folders(entries))
    return [("/".join(entry.name.split("/")[depth:]), entry) for entry in entries]


def owners(people: People, text: str) -> tuple[Person, ...]:
    """
    Return whose a folder is that is called by a student's id or name.

    Parameters
    ----------
    people : People
        Everybody it may be.
    text : str
        What it is called.

    Returns
    -------
    tuple of Person
        One for each student; several if nobody can tell. An id of this course
        counts before those of an LMS, an id before an address and a name.
    """
    ways = (
        lambda: people.by_student(text),
        lambda: [one for kind in _KINDS for one in people.by_id(kind, text)],
        lambda: people.by_address(text),
        lambda: people.by_name(text, fold),
    )
    found = next((whose for way in ways if (whose := way())), ())
    return tuple({one.student or id(one): one for one in reversed(found)}.values()) if text else ()
