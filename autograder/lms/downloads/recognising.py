"""Which LMS a download is of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from autograder.errors import CourseError
from autograder.lms.downloads.levels import levels
from autograder.lms.downloads.model import Entry
from autograder.lms.downloads.owners import owners
from autograder.lms.model import Lms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autograder.lms.downloads.levels import Level
    from autograder.lms.downloads.model import Archive, Left, Reader
    from autograder.lms.people import People

READERS: Mapping[Lms, str] = {
    lms: f"autograder.lms.downloads.{lms.value}"
    for lms in (
        *(Lms.CANVAS, Lms.MOODLE, Lms.BLACKBOARD, Lms.BRIGHTSPACE),
        *(Lms.SAKAI, Lms.NBGRADER, Lms.PLAIN),
    )
}
"""The module of each LMS; it is imported when a download is looked at."""

SURE, APART = 0.5, 0.2
"""What an LMS must reach, and how far the next one must be behind."""

_SHOWN = 3


def reader_of(lms: Lms) -> Reader:
    """
    Return the reader of downloads of an LMS.

    Parameters
    ----------
    lms : Lms
        Which.

    Returns
    -------
    Reader
        Its module.

    Raises
    ------
    CourseError
        If it hands out no submissions that could be collected.
    """
    if lms not in READERS:
        known = ", ".join(one.value for one in READERS)
        raise CourseError("--from", f"nothing can be collected from {lms.shown}", f"Say one of: {known}.")
    return cast("Reader", import_module(READERS[lms]))


@dataclass(slots=True)
class _Shown:
    """What a reader is shown of a download to say whether it fits: one path for each student's part."""

    where: str
    entries: tuple[Entry, ...]
    left: tuple[Left, ...] = ()

    def read(self, entry: Entry, limit_bytes: int | None = None) -> bytes:
        """Return nothing: names alone tell whose a download is."""
        del entry, limit_bytes
        return b""


def recognise(archive: Archive, people: People | None = None) -> Lms:
    """
    Return which LMS a download is of.

    Each student has one vote, whatever and however much they handed in.

    Parameters
    ----------
    archive : Archive
        The download.
    people : People, optional
        Everybody who may have handed in: what lies in their folders tells nothing.

    Returns
    -------
    Lms
        The one whose names it has.

    Raises
    ------
    CourseError
        If it may be of several, or of none, or is several downloads in folders.
    """
    verdict = _verdict(archive.where, archive.entries, people)
    if verdict.lms is not None:
        return verdict.lms
    like = [lms.shown for lms, sure in verdict.looks if sure >= APART]
    known = ", ".join(one.value for one in READERS)
    if not like:
        if parts := _parts(verdict.level, archive.where, people):
            found = " and ".join(f"like {lms.shown} in {name}" for name, lms in parts[:_SHOWN])
            more = f" and in {len(parts) - _SHOWN} more folders" if len(parts) > _SHOWN else ""
            remedy = (
                "Name each folder by itself behind collect. Say where it is from with --from if it is one"
            )
            raise CourseError(archive.where, f"looks {found}{more}", f"{remedy}: {known}.")
        if reader_of(Lms.PLAIN).fits(archive) >= SURE / 2:
            return Lms.PLAIN
    seen = ", ".join(entry.name for entry in archive.entries[:_SHOWN]) or "nothing"
    what = f"looks like {' and like '.join(like)}" if like else "looks like no LMS that is known"
    raise CourseError(archive.where, f"{what} (in it: {seen})", f"Say where it is from with --from: {known}.")


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whose some entries are, if it is clear; the two that they look most like, and the last level seen."""

    lms: Lms | None
    looks: tuple[tuple[Lms, float], ...]
    level: Level


def _verdict(where: str, entries: Sequence[Entry], people: People | None) -> _Verdict:
    looks: tuple[tuple[Lms, float], ...] = ()
    for level in levels(entries, people):
        sure = _sure(where, level)
        best, second = sorted(sure, key=lambda lms: sure[lms], reverse=True)[:2]
        if not looks or sure[best] > looks[0][1]:
            looks = (best, sure[best]), (second, sure[second])
        if sure[best] >= SURE:
            # What lies deeper is the students' to name.
            is_clear = sure[best] - sure[second] >= APART
            return _Verdict(best if is_clear else None, looks, level)
    return _Verdict(None, looks, level)


def _sure(where: str, level: Level) -> dict[Lms, float]:
    """Return by LMS which share of the parts at a level has its names."""
    sure: dict[Lms, float] = {}
    for lms in READERS:
        if lms is not Lms.PLAIN and find_spec(READERS[lms]):
            paths = level.shown(below=lms is Lms.NBGRADER)
            entries = tuple(Entry(name=path, size=0) for path in sorted(paths))
            sure[lms] = reader_of(lms).fits(_Shown(where, entries))
    return sure


def _parts(level: Level, where: str, people: People | None) -> list[tuple[str, Lms]]:
    """Return the folders that are downloads themselves, if most are: each section's, say."""
    found = []
    for name, inside in level.folders.items():
        if people is not None and owners(people, name):
            return []
        entries = [replace(entry, name="/".join(parts)) for parts, entry in inside]
        lms = _verdict(where, entries, people).lms
        found += [(name, lms)] if lms is not None else []
    return found if len(found) > 1 and 2 * len(found) > len(level.folders) else []
