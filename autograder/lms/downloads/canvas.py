"""
Canvas: `submissions.zip`, flat, with the names that Canvas makes.

An upload is ``<name>[_LATE]_<user>_<attachment>_<file>``. Names and files may
hold numbers between underscores themselves, so no pattern alone finds the
numbers: every pair is looked up among the people, and of several the one counts
whose name is the one in front of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from autograder.lms.downloads.model import Attempt, Download, Left
from autograder.lms.downloads.owners import BY_HAND, flat
from autograder.lms.model import IdKind, Lms
from autograder.lms.people import full_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autograder.lms.downloads.model import Archive, Context, Entry
    from autograder.lms.model import Person

_PAIR = re.compile(r"(?=_(?P<user>\d+)_(?P<attachment>\d+)_(?P<file>.+))", re.DOTALL)
_NO_UPLOAD = re.compile(r"(?P<name>.*)_(?P<user>\d+)_(?P<file>(?:text|link)\.html)", re.DOTALL)
_ANONYMOUS = re.compile(r"(?:LATE_)?anon_(?P<id>[^\W_]+)_(?:\d+_.+|(?:text|link)\.html)", re.DOTALL)
_RESUBMITTED = re.compile(r"(?P<stem>.+)-\d+\.ipynb", re.DOTALL)
_LATE = "_LATE"
_WORD = {"Nd", "Nl", "Pc"}

_ROSTER = "Export the gradebook from Canvas once more, and name it with --roster."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One way to read a name of an entry."""

    name: str
    late: bool
    user: str
    attachment: int
    """0 of what was not uploaded."""
    file: str

    @property
    def key(self) -> str:
        return f"{self.name}{_LATE if self.late else ''}_{self.user}"


@dataclass(slots=True)
class _Handed:
    """What one student handed in."""

    person: Person | None
    reading: _Reading
    problem: str = ""
    entries: list[tuple[_Reading, Entry]] = field(default_factory=list)


def fold_name(name: str) -> str:
    """
    Return what Canvas makes of a name: small letters, and only what belongs to words.

    Parameters
    ----------
    name : str
        A student's sortable name, or a group's.

    Returns
    -------
    str
        Underscores and digits stay; spaces, commas, hyphens and apostrophes do not.
    """
    kinds = ((letter, unicodedata.category(letter)) for letter in unicodedata.normalize("NFC", name).lower())
    return "".join(letter for letter, kind in kinds if kind[0] in "LM" or kind in _WORD)


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is of Canvas.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    float
        The share of the entries that have its names.
    """
    names = [name for name, _ in flat(archive.entries)]
    return sum(_is_canvas(name) for name in names) / len(names) if names else 0.0


def read(archive: Archive, context: Context) -> Download:
    """
    Understand a download of Canvas.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in, and what.

    Returns
    -------
    Download
        One attempt for each student: Canvas gives out the last one only, and no times.
    """
    handed: dict[object, _Handed] = {}
    left: list[Left] = []
    names = [PurePosixPath(entry.name).name for entry in archive.entries]
    called = _called(names)
    for name, entry in zip(names, archive.entries, strict=True):
        if _ANONYMOUS.fullmatch(name) and not _fitting(name, context):
            one = _anonymous(name)
        elif not (readings := list(_readings(name))):
            reason = f"Canvas gives no such name to what is handed in. {BY_HAND}"
            left.append(Left(name=entry.name, reason=reason))
            continue
        else:
            one = _owner(readings, name, context, called)
        whose = one.person.student or id(one.person) if one.person else (one.reading.key, one.problem)
        handed.setdefault(whose, one).entries.append((one.reading, entry))
    left += _other_names(handed.values(), context)
    return Download(
        lms=Lms.CANVAS,
        attempts=tuple(_attempt(one, context) for one in handed.values()),
        left=tuple(left),
    )


def _is_canvas(name: str) -> bool:
    if "/" in name:
        return False
    if _ANONYMOUS.fullmatch(name):
        return True
    return any(reading.name == fold_name(reading.name) for reading in _readings(name))


def _readings(name: str) -> Iterator[_Reading]:
    """Yield all ways to read a name."""
    for found in _PAIR.finditer(name):
        yield _reading(name[: found.start()], found["user"], int(found["attachment"]), found["file"])
    if entered := _NO_UPLOAD.fullmatch(name):
        yield _reading(entered["name"], entered["user"], 0, entered["file"])


def _reading(name: str, user: str, attachment: int, file: str) -> _Reading:
    late = name.endswith(_LATE)
    return _Reading(name=name.removesuffix(_LATE), late=late, user=user, attachment=attachment, file=file)


# -------------------------------------------------------------------- whose


def _fitting(name: str, context: Context) -> list[tuple[_Reading, Person]]:
    """Return the ways to read a name that name somebody."""
    return [
        (reading, person)
        for reading in _readings(name)
        for person in context.people.by_id(IdKind.USER, reading.user)
    ]


def _called(names: Iterable[str]) -> dict[str, set[str]]:
    """Return by number what each student is called in a download, where names can be read in one way only."""
    called: dict[str, set[str]] = defaultdict(set)
    for name in names:
        readings = list(_readings(name))
        if len(readings) == 1:
            called[readings[0].user].add(readings[0].name)
    return called


def _owner(readings: list[_Reading], name: str, context: Context, called: Mapping[str, set[str]]) -> _Handed:
    fitting = _fitting(name, context)
    exact = [(reading, person) for reading, person in fitting if _has_name(person, reading.name, context)]
    chosen = exact or fitting
    # Where there is one pair of numbers only, there is nothing to choose: a group has another name.
    if len(chosen) == 1 and (exact or len(readings) == 1):
        reading, person = chosen[0]
        # Somebody may have taken this name and its number as a name since the roster was written.
        others = [one for one, whose in fitting if whose is not person and len(one.name) > len(reading.name)]
        if all(one.name not in called.get(one.user, {one.name}) for one in others):
            return _Handed(person, reading)
    if not fitting:
        numbers = list(dict.fromkeys(reading.user for reading in readings))
        # A single number is in the name already: one sentence tells of all whom a roster lacks.
        which = "this number" if len(numbers) == 1 else f"the number {' or '.join(numbers)}"
        return _Handed(None, readings[0], f"No student has {which} in Canvas. {_ROSTER}")
    users = " or ".join(dict.fromkeys(reading.user for reading, _ in fitting))
    what = f"It can be read in several ways, and nobody's name tells which (number {users} in Canvas)"
    return _Handed(None, readings[0], f"{what}. {_ROSTER} If that does not help: {BY_HAND}")


def _has_name(person: Person, name: str, context: Context) -> bool:
    return _same(name) in {_same(way) for way in _names(person, context)}


def _same(name: str) -> str:
    # Programs differ in what they take for the small form of a letter.
    return unicodedata.normalize("NFC", fold_name(name).casefold())


def _names(person: Person, context: Context) -> Iterator[str]:
    """Yield the ways in which anybody writes the name of a student."""
    for one in context.people.of(person):
        yield from full_names(one)


def _anonymous(name: str) -> _Handed:
    problem = (
        "The assignment is anonymous, so nobody can tell whose it is. "
        "Switch that off in Canvas, and download again."
    )
    late = name.startswith("LATE_")
    found = _ANONYMOUS.fullmatch(name)
    shown = f"anon_{found['id']}" if found else name
    return _Handed(None, _Reading(name=shown, late=late, user="", attachment=0, file=name), problem)


def _other_names(handed: Iterable[_Handed], context: Context) -> Iterator[Left]:
    """Yield what is somebody's by its number, and has another name: a group's perhaps."""
    for one in handed:
        if one.person is None or not any(_names(one.person, context)):
            continue
        if not _has_name(one.person, one.reading.name, context):
            what = f"It has the number of {one.person.shown} in Canvas, and the name {one.reading.name}"
            remedy = "If that is a group, collect it for the others too: give each a folder (--from plain)."
            yield Left(name=one.reading.key, reason=f"{what}. {remedy}")


# ------------------------------------------------------------------ attempts


def _attempt(one: _Handed, context: Context) -> Attempt:
    return Attempt(
        key=one.reading.key,
        person=one.person,
        problem=one.problem,
        files=_files(one.entries, context.notebooks),
        late=any(reading.late for reading, _ in one.entries),
        named=one.reading.name,
        number=max(reading.attachment for reading, _ in one.entries),
    )


def _files(
    entries: list[tuple[_Reading, Entry]], notebooks: tuple[str, ...]
) -> tuple[tuple[str, Entry], ...]:
    """Return the files under the names that they had."""
    by_name: dict[str, list[tuple[_Reading, Entry]]] = defaultdict(list)
    for reading, entry in entries:
        by_name[reading.file].append((reading, entry))
    files = []
    for name, same in by_name.items():
        path = _handed_in_as(name, by_name, notebooks)
        for reading, entry in same:
            # Canvas has several files of one name: each gets a folder, so that none replaces another.
            files.append((path if len(same) == 1 else f"{reading.attachment}/{path}", entry))
    return tuple(sorted(files, key=lambda file: file[0]))


def _handed_in_as(name: str, others: Iterable[str], notebooks: tuple[str, ...]) -> str:
    """Return a name without what Canvas adds when a file is handed in again, if that can be proved."""
    expected = {f"{notebook}.ipynb" for notebook in notebooks}
    wanted = _wanted(name, expected)
    alike = [other for other in others if other == wanted or _wanted(other, expected) == wanted]
    return wanted if wanted and alike == [name] else name


def _wanted(name: str, expected: set[str]) -> str:
    """Return which notebook a file was before it was handed in again; empty if it was none."""
    found = _RESUBMITTED.fullmatch(name)
    wanted = f"{found['stem']}.ipynb" if found else ""
    return wanted if wanted in expected and name not in expected else ""
