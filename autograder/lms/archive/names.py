"""Names of entries: made safe to be written, or refused with a reason."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Generic, TypeVar

from autograder.lms.archive.limits import MIB, too_large
from autograder.lms.downloads.model import Entry, Left
from autograder.lms.texts import same_on_disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from autograder.lms.archive.limits import Limits

PART_BYTES, NAME_BYTES, DEPTH = 255, 1024, 32
"""The longest name of a file or folder that disks take, the longest path, and the most folders in it."""

LEFT_BEHIND = {
    "__MACOSX",
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
    "Icon\r",
    ".ipynb_checkpoints",
    "__pycache__",
    ".Trashes",
    ".Spotlight-V100",
    ".fseventsd",
    ".git",
    ".hg",
    ".svn",
}
"""Files and folders that systems, Jupyter and version control leave behind, of no use to anybody."""

LEFT_REASON = "Left behind by a system, by Jupyter or by version control."

_DRIVE = re.compile(r"[A-Za-z]:")

Handle = TypeVar("Handle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Generic[Handle]):
    """
    A file in an archive, before anybody has looked at its name.

    Parameters
    ----------
    name : str
        As the archive has it, decoded.
    size : int
        Bytes, as promised.
    modified : datetime or None
        Naive.
    problem : str
        Why it is not taken, and what to do; empty if nothing is known against it.
    note : str
        What people should know although it is taken.
    content : tuple
        Two members of one name and the same content are the same file. Empty if that is not known.
    handle : object
        By which the archive finds it again.
    """

    name: str
    size: int
    modified: datetime | None = None
    problem: str = ""
    note: str = ""
    content: tuple[object, ...] = ()
    handle: Handle


def is_left_behind(name: str) -> bool:
    """
    Return whether a file is one that systems, Jupyter and version control leave behind.

    Parameters
    ----------
    name : str
        Its path.

    Returns
    -------
    bool
        True if nobody misses it.
    """
    return any(part in LEFT_BEHIND or part.startswith("._") for part in name.replace("\\", "/").split("/"))


def clean(name: str) -> str:
    """
    Return a name in the form in which it is written, whether safe or not.

    Parameters
    ----------
    name : str
        As an archive has it.

    Returns
    -------
    str
        In NFC, parts separated by single slashes.
    """
    # Too long in any form; to normalise many accents in a row takes the square of their number.
    normal = unicodedata.normalize("NFC", name) if len(name) <= 2 * NAME_BYTES else name
    plain = normal.replace("\\", "/")
    start = "/" if plain.startswith("/") else ""
    return start + "/".join(part for part in plain.split("/") if part not in {"", "."})


def name_problem(name: str) -> str:
    """
    Return why a cleaned name must not be written; empty if it may.

    Parameters
    ----------
    name : str
        As `clean` returns it.

    Returns
    -------
    str
        One or two sentences.
    """
    parts = name.split("/")
    if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in name):
        return "Its name holds control characters, or bytes that are no text. Rename it."
    if name.startswith("/") or _DRIVE.match(name):
        return "Its name is that of a place on a disk, not in the archive. It may be an attack: look at it."
    if ".." in parts:
        return "Its name leads out of the archive. It may be an attack: look at it."
    if not name:
        return "It has no name."
    too_long = any(len(part.encode()) > PART_BYTES for part in parts)
    if too_long or len(name.encode()) > NAME_BYTES or len(parts) > DEPTH:
        return "Its name is longer than a disk takes. Rename it."
    return ""


@dataclass(frozen=True, slots=True)
class Sifted(Generic[Handle]):
    """
    What is in an archive, sorted out.

    Parameters
    ----------
    members : dict of str to Member
        What may be taken, by its name; sorted.
    left : tuple of Left
        What may not, and what people should know.
    """

    members: dict[str, Member[Handle]]
    left: tuple[Left, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What may be taken."""
        return tuple(
            Entry(name=name, size=member.size, modified=member.modified)
            for name, member in self.members.items()
        )


def sift(found: Iterable[Member[Handle]], limits: Limits) -> Sifted[Handle]:
    """
    Sort out what may be taken of an archive.

    Parameters
    ----------
    found : iterable of Member
        All its files.
    limits : Limits
        What is too much, as far as sizes are promised.

    Returns
    -------
    Sifted
        No two names differ by case alone, and none is a folder as well.
    """
    left: list[Left] = []
    good: list[Member[Handle]] = []
    for one in found:
        name = clean(one.name)
        if is_left_behind(one.name):
            left.append(Left(name=name, reason=LEFT_REASON, harmless=True))
        elif problem := one.problem or name_problem(name) or _too_large(one, limits):
            left.append(Left(name=name, reason=problem))
        else:
            good.append(replace(one, name=name))
    alone = _without_doubles(good, left)
    members = dict(_within(sorted(_without_folders(alone, left), key=lambda one: one.name), limits, left))
    notes = (Left(name=name, reason=one.note, harmless=True) for name, one in members.items() if one.note)
    left.extend(notes)
    return Sifted(members, tuple(sorted(left, key=lambda one: one.name)))


def _too_large(one: Member[Handle], limits: Limits) -> str:
    if one.size <= limits.entry_bytes:
        return ""
    what, remedy = too_large(limits)
    return f"It {what}. {remedy}"


def _without_doubles(found: Iterable[Member[Handle]], left: list[Left]) -> list[Member[Handle]]:
    alike: dict[str, list[Member[Handle]]] = defaultdict(list)
    for one in found:
        alike[same_on_disk(one.name)].append(one)
    good = []
    for same in alike.values():
        if len({(one.name, one.content) for one in same}) == 1 and (same[0].content or len(same) == 1):
            good.append(same[0])
            continue
        for one in same:
            has_others = any(other.name != one.name for other in same)
            what = "It differs from another one by case alone" if has_others else "It is there twice"
            left.append(Left(name=one.name, reason=f"{what}. Keep the one that counts, or rename it."))
    return good


def _without_folders(found: list[Member[Handle]], left: list[Left]) -> Iterator[Member[Handle]]:
    folders = {same_on_disk(str(parent)) for one in found for parent in PurePosixPath(one.name).parents}
    for one in found:
        if same_on_disk(one.name) in folders:
            left.append(Left(name=one.name, reason="It is a file and a folder at once. Rename it."))
        else:
            yield one


def _within(
    found: Iterable[Member[Handle]], limits: Limits, left: list[Left]
) -> Iterator[tuple[str, Member[Handle]]]:
    total = 0
    for one in found:
        total += one.size
        if total > limits.total_bytes:
            what = f"With it the archive would unpack to more than {limits.total_bytes // MIB} MiB"
            left.append(Left(name=one.name, reason=f"{what}. Collect it in parts, or ask for less."))
        else:
            yield one.name, one
