"""
Where in a download the parts lie that only an LMS names: one for each student or submission.

Whatever lies below such a part, a student has named. It decides nothing about the
whole download, however much of it there is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.course.timestamps import FILE
from autograder.lms.downloads.owners import owners

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.lms.downloads.model import Entry
    from autograder.lms.people import People

SUBMITTED = "submitted"
"""What nbgrader calls the folder around those of the students."""

WORK = (".ipynb", ".zip", ".tar", ".gz", ".tgz")
"""How files end that may be what somebody handed in."""

_MARK = re.compile(r".+?(?:(?=_assign(?:submission|feedback)_|_attempt_\d{4}-)|_\d+(?=_\d+_))", re.DOTALL)
"""What an LMS puts before what it adds to the name of each file: the files behind it are one student's."""
_OTHER = "-"


@dataclass(frozen=True, slots=True)
class Level:
    """
    The parts of a download in one folder.

    Parameters
    ----------
    around : tuple of str
        The folders around it, from the outermost.
    folders : mapping of str to tuple of (tuple of str, Entry)
        By name the folders in it: for each file the path below, in parts, and where it is.
    files : tuple of (str, Entry)
        The files in it.
    """

    around: tuple[str, ...]
    folders: Mapping[str, tuple[tuple[tuple[str, ...], Entry], ...]]
    files: tuple[tuple[str, Entry], ...]

    def inside(self) -> Iterator[tuple[str, ...]]:
        """Yield the paths below the folders, in parts."""
        return (parts for inside in self.folders.values() for parts, _ in inside)

    def units(self) -> dict[str, list[Entry]]:
        """Return the entries by the student or submission that they are of, as far as an LMS's names tell."""
        found = {f"{name}/": [entry for _, entry in inside] for name, inside in self.folders.items()}
        for name, entry in self.files:
            found.setdefault(_unit(name), []).append(entry)
        return found

    def shown(self, *, below: bool = False) -> list[str]:
        """
        Return a path for each unit, without what students have named.

        Parameters
        ----------
        below : bool
            True if folders in folders are to be seen, as nbgrader has them.

        Returns
        -------
        list of str
            Of a folder its name, and a ``timestamp.txt`` if it is in it; of files
            with the same beginning the first.
        """
        start = f"{SUBMITTED}/" if self.around[-1:] == (SUBMITTED,) else ""
        paths = [
            "/".join((name, *_telling([parts for parts, _ in inside], below=below)))
            for name, inside in self.folders.items()
        ]
        first = {_unit(name): name for name, _ in reversed(self.files)}
        return [start + path for path in (*paths, *first.values())]


def _unit(name: str) -> str:
    mark = _MARK.match(name)
    return mark[0] if mark else name


def _telling(inside: Sequence[tuple[str, ...]], *, below: bool) -> tuple[str, ...]:
    """Return the path below a folder that tells most of it."""
    if (FILE,) in inside:
        return (FILE,)
    deep = [parts for parts in inside if len(parts) > 1] if below else []
    beside = {parts[0] for parts in deep if len(parts) == 2 and parts[1].endswith(".ipynb")}  # noqa: PLR2004 - a folder and a file
    for parts in deep:
        if parts[1:] == (FILE,) and parts[0] in beside:
            return parts
    return (deep[0][0], _OTHER) if deep else (_OTHER,)


def levels(entries: Sequence[Entry], people: People | None = None) -> Iterator[Level]:
    """
    Yield the levels of a download at which the folders or files of students may lie.

    Parameters
    ----------
    entries : sequence of Entry
        The entries.
    people : People, optional
        Whose folders are not looked into.

    Yields
    ------
    Level
        From the outermost, as long as one folder is around everything that may have been handed in.
    """
    around: tuple[str, ...] = ()
    below = [(tuple(entry.name.split("/")), entry) for entry in entries]
    while True:
        folders: dict[str, list[tuple[tuple[str, ...], Entry]]] = defaultdict(list)
        for parts, entry in below:
            if len(parts) > 1:
                folders[parts[0]].append((parts[1:], entry))
        files = tuple((parts[0], entry) for parts, entry in below if len(parts) == 1)
        yield Level(around, {name: tuple(inside) for name, inside in folders.items()}, files)
        has_work = any(name.lower().endswith(WORK) for name, _ in files)
        alone = next(iter(folders)) if len(folders) == 1 and not has_work else ""
        inner = SUBMITTED if SUBMITTED in folders else alone
        if not inner or (people is not None and owners(people, inner)):
            return
        around, below = (*around, inner), folders[inner]
