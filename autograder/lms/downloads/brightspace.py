"""
Brightspace: a folder for each submission, ``<n>-<n> - <name> - <time>``, and an index page.

No number in it is known to be a student's, so the name is looked up in the roster;
where a site adds the student's id behind the name, the id is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.lms.downloads.attempts import Owner, Teams, attempts_of, in_utc, own_paths
from autograder.lms.downloads.model import Attempt, Download, Left
from autograder.lms.downloads.owners import BY_HAND
from autograder.lms.model import IdKind, Lms
from autograder.lms.people import fold, full_names
from autograder.lms.times import english_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from autograder.lms.downloads.model import Archive, Context, Entry
    from autograder.lms.model import Person
    from autograder.lms.people import People

_NUMBERS = re.compile(r"(?:\d[\d-]*\s+-\s+)?\d+(?:-\d+)+\s+-\s+")
"""What stands before the name: numbers of the submission, on some sites of the course before them."""
_SEPARATOR = " - "
_SOME_TIME = re.compile(r".*\d{4}\D+\d{1,2}[:_.]?\d{2}\b.*")
"""A time in any language."""
_INDEX = "index.html"

_ROSTER = "Export the grades or the class list from Brightspace once more, and name it with --roster."


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder's name, taken apart."""

    key: str
    who: str
    time: str
    whole: bool
    """True if it has both numbers and a time, as Brightspace makes it where no site has changed that."""


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is of Brightspace.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    float
        The share of the entries that are in folders of its names, or the index page.
    """
    known = [any(one.whole for one in _folders(entry).values()) for entry in archive.entries]
    pages = [entry.name.rpartition("/")[2] == _INDEX for entry in archive.entries]
    fitting = sum(whole or (page and any(known)) for whole, page in zip(known, pages, strict=True))
    return fitting / len(known) if known else 0.0


def read(archive: Archive, context: Context) -> Download:
    """
    Understand a download of Brightspace.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in, and the zone of the site's times.

    Returns
    -------
    Download
        All submissions with their times; Brightspace does not say which are late.
    """
    found: dict[tuple[str, _Folder], list[tuple[str, Entry]]] = defaultdict(list)
    left: list[Left] = []
    finder = _Finder(archive.entries)
    for entry in archive.entries:
        place = finder.place(entry)
        if place is not None:
            at, folder = place
            parts = entry.name.split("/")
            found["/".join(parts[:at]), folder].append(("/".join(parts[at + 1 :]), entry))
        elif entry.name.rpartition("/")[2] == _INDEX:
            left.append(Left(name=entry.name, reason="Brightspace's list of the folders.", harmless=True))
        else:
            reason = f"Brightspace puts what is handed in into folders of other names. {BY_HAND}"
            left.append(Left(name=entry.name, reason=reason))
    teams = Teams(context.people)
    attempts = [
        attempt
        for (_, folder), files in found.items()
        for attempt in attempts_of(
            _owner(folder.who, context.people, teams),
            Attempt(
                key=folder.key,
                person=None,
                files=own_paths(files),
                submitted_at=_time(folder.time, context),
                named=folder.who,
            ),
        )
    ]
    return Download(lms=Lms.BRIGHTSPACE, attempts=tuple(attempts), left=tuple(left))


class _Finder:
    """Finds which part of a path is the folder that Brightspace has made."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        some = [folders for entry in entries if (folders := _folders(entry))]
        whole = sum(any(one.whole for one in folders.values()) for folders in some)
        self._whole = 2 * whole >= len(some)

    def place(self, entry: Entry) -> tuple[int, _Folder] | None:
        """Return its place and itself: the first whose name is whole; without whole names the last one."""
        folders = _folders(entry)
        if self._whole:
            return next(((at, one) for at, one in folders.items() if one.whole), None)
        # Brightspace takes no folders, so what has one is none: a name with a slash, cut in two.
        last = entry.name.count("/") - 1
        return (last, folders[last]) if last in folders else None


def _folders(entry: Entry) -> dict[int, _Folder]:
    """Return the folders of a path that could be of Brightspace, by their place."""
    parts = entry.name.split("/")[:-1]
    return {at: folder for at, part in enumerate(parts) if (folder := _folder(part)) is not None}


def _folder(name: str) -> _Folder | None:
    numbers = _NUMBERS.match(name)
    rest = name[numbers.end() :] if numbers else name
    who, separator, time = rest.rpartition(_SEPARATOR)
    if not (separator and _SOME_TIME.fullmatch(time)):
        who, time = rest, ""
    # Without numbers and without a time it must at least be a name and an id.
    if not who.strip() or not (numbers or time or re.fullmatch(r".+,.+ - \S*\d\S*", who)):
        return None
    return _Folder(name, who.strip(), time, whole=bool(numbers and time))


def _time(text: str, context: Context) -> datetime | None:
    time = english_time(text)
    return in_utc(time, context.zone) if time is not None else None


def _owner(who: str, people: People, teams: Teams) -> Owner:
    by_name = people.by_name(who)
    name, _, number = who.rpartition(_SEPARATOR)
    by_id = [
        person
        for kind in (IdKind.SIS, IdKind.LOGIN)
        for person in people.by_id(kind, number.strip())
        if _has_name(person, name, people)
    ]
    found = {one.student or id(one): one for one in (*by_name, *by_id)}
    team = teams.members(who)
    if len(found) > 1 or (found and team):
        names = " or ".join(sorted(_known(one) for one in found.values()))
        what = f"It may be {names}{' or a group' if team else ''}, who are called the same"
        return Owner(problem=f"{what}. {BY_HAND}")
    if not found and not team:
        group = "If it is a group, name a roster that has a column Groups."
        return Owner(problem=f"Nobody in the roster is called {who!r}. {_ROSTER} {group}")
    return Owner(tuple(found.values()) or team)


def _has_name(person: Person, name: str, people: People) -> bool:
    ways = {fold(way) for one in people.of(person) for way in full_names(one)}
    return not ways or fold(name) in ways


def _known(person: Person) -> str:
    """Return how to tell a person from their namesakes."""
    more = next((one for one in (person.student, *person.ids.values(), person.email) if one), "")
    return f"{person.shown} ({more})" if more else person.shown
