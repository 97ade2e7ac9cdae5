"""
Brightspace: a folder for each submission, ``<n>-<n> - <name> - <time>``, and an index page.

No number in it is known to be a student's, so the name is looked up in the roster;
where a site adds the student's id behind the name, the id is. Names are students' to
choose and may look like numbers, times and ids, so what stands around the name is made
out once, for the whole download: the form that most different names have.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.lms.downloads.attempts import (
    By,
    Owner,
    Teams,
    all_or_no_teams,
    attempts_of,
    in_utc,
    own_paths,
)
from autograder.lms.downloads.model import Attempt, Download, Left
from autograder.lms.downloads.owners import BY_HAND
from autograder.lms.model import IdKind, Lms
from autograder.lms.people import fold, full_names
from autograder.lms.times import english_time
from autograder.terminal import some

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from autograder.lms.downloads.model import Archive, Context, Entry
    from autograder.lms.model import Person
    from autograder.lms.people import People

_COURSE = re.compile(r"\d+\s+-\s+")
"""The number of the course, which some sites put in front."""
_NUMBERS = re.compile(r"\d+(?:-\d+)+\s+-\s+")
"""The numbers of the submission."""
_ANY_NUMBERS = re.compile(r"\d[\d-]*\s+-\s+")
_SEPARATOR = " - "
_SOME_TIME = re.compile(r".*\d{4}\D+\d{1,2}[:_.]?\d{2}\b.*")
"""A time in any language."""
_INDEX = "index.html"
_WAYS = 4
"""Numbers in front of a name that may be the site's: none is known to write more than two."""
_NAMED = 8
"""Students that are named one by one."""

_ROSTER = "Export the grades or the class list from Brightspace once more, and name it with --roster."


@dataclass(frozen=True, slots=True, order=True)
class _Form:
    """What a site writes around the names of students."""

    course: bool
    numbers: bool
    time: bool

    @property
    def whole(self) -> bool:
        """True of both numbers and a time, as Brightspace has it where no site has changed that."""
        return self.numbers and self.time

    def cut(self, name: str) -> _Folder | None:
        """Take a folder's name apart; None if it has not all of this form."""
        at = 0
        for wanted, pattern in ((self.course, _COURSE), (self.numbers, _NUMBERS)):
            match = pattern.match(name, at) if wanted else None
            if wanted and match is None:
                return None
            at = match.end() if match else at
        head, time = _timed(name) if self.time else (name, "")
        who = head[at:].strip()
        if not who or (self.time and not time) or not (self.numbers or time or _has_id(who)):
            return None
        return _Folder(name, who, time)


_FORMS = tuple(
    _Form(course, numbers, time)
    for course, numbers in ((True, True), (False, True), (False, False))
    for time in (True, False)
)
"""What takes most away comes first."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder's name, taken apart."""

    key: str
    who: str
    time: str


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
    known = [
        any((form := _fullest(part)) and form.whole for part in entry.name.split("/")[:-1])
        for entry in archive.entries
    ]
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
    layout = _Layout(archive.entries)
    for entry in archive.entries:
        place = layout.place(entry)
        if place is not None:
            at, folder = place
            parts = entry.name.split("/")
            found["/".join(parts[:at]), folder].append(("/".join(parts[at + 1 :]), entry))
        elif entry.name.rpartition("/")[2] == _INDEX:
            left.append(Left(name=entry.name, reason="Brightspace's list of the folders.", harmless=True))
        else:
            reason = f"Brightspace puts what is handed in into folders of other names. {BY_HAND}"
            left.append(Left(name=entry.name, reason=reason))
    whose = _owners({folder for _, folder in found}, context.people)
    same_names = _same_names(whose)
    attempts = [
        attempt
        for (_, folder), files in found.items()
        for attempt in attempts_of(
            whose[folder],
            Attempt(
                key=folder.key,
                person=None,
                files=own_paths(files),
                submitted_at=_time(folder.time, context),
                named=folder.who,
                same_name=same_names.get(whose[folder].students, 0),
            ),
        )
    ]
    return Download(
        lms=Lms.BRIGHTSPACE, attempts=tuple(attempts), left=tuple(left), notes=tuple(_by_name_alone(attempts))
    )


def _same_names(whose: Mapping[_Folder, Owner]) -> Counter[frozenset[Hashable]]:
    """Return how many folders a student has by nothing but the name."""
    return Counter(owner.students for owner in whose.values() if owner.people and owner.by is By.NAME)


def _by_name_alone(attempts: Iterable[Attempt]) -> Iterator[str]:
    """Yield of whom there are several folders, if nothing but a name says that they are one student's."""
    several = {f"{one.named} ({one.same_name})" for one in attempts if one.same_name > 1}
    if several:
        yield (
            "several folders are taken as attempts of one student by the name alone: "
            f"{some(sorted(several), _NAMED)}. Somebody else may have taken that name: "
            "see in Brightspace whose the last one is"
        )


class _Layout:
    """Which part of a path is the folder that Brightspace has made, and of what form: for all entries."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        folders = [entry.name.split("/")[:-1] for entry in entries]
        known: dict[int, set[str]] = defaultdict(set)
        for parts in folders:
            for at, part in enumerate(parts):
                known[at].add(part)
        forms = {at: form for at, names in known.items() if (form := _most(names)) and form[1].whole}
        # The folders of Brightspace are where most names are; of folders around them there are few.
        self._at = max(forms, key=lambda at: (forms[at][0], -at), default=None)
        most = _most({parts[-1] for parts in folders if parts}) if self._at is None else forms[self._at]
        self._form = most[1] if most else _FORMS[0]

    def place(self, entry: Entry) -> tuple[int, _Folder] | None:
        """Return the folder's place in an entry's path and the folder; None if it is in none."""
        parts = entry.name.split("/")[:-1]
        # Without whole names the last one: Brightspace takes no folders.
        at = len(parts) - 1 if self._at is None else self._at
        if not 0 <= at < len(parts):
            return None
        folder = self._form.cut(parts[at])
        # A name with a slash was cut in two: what ends with the time is the rest of it.
        is_cut = self._form.time and any(_timed(part)[1] for part in parts[at + 1 :])
        return None if folder is None or is_cut else (at, folder)


def _most(names: Iterable[str]) -> tuple[int, _Form] | None:
    """Return the form that most students' folders have, and how many students; None if none has any."""
    people: dict[_Form, set[str]] = defaultdict(set)
    for name in names:
        form = _fullest(name)
        folder = form.cut(name) if form else None
        if form and folder:
            # However often somebody hands in, it is one name.
            people[form].add(fold(folder.who))
    # Of two that are as many, the one that takes less for the site's.
    found = max(people, key=lambda form: (len(people[form]), -_FORMS[::-1].index(form)), default=None)
    return (len(people[found]), found) if found else None


def _fullest(name: str) -> _Form | None:
    return next((form for form in _FORMS if form.cut(name)), None)


def _timed(name: str) -> tuple[str, str]:
    """Return a folder's name without the time at its end, and the time; empty if there is none."""
    head, separator, time = name.rpartition(_SEPARATOR)
    return (head, time) if separator and _SOME_TIME.fullmatch(time) else (name, "")


def _has_id(who: str) -> bool:
    """Return whether a name is a sortable one with an id behind it: ``Ruiz, Ana - 00042``."""
    name, separator, number = who.rpartition(_SEPARATOR)
    is_id = any(letter.isdigit() for letter in number) and not any(letter.isspace() for letter in number)
    return bool(separator) and "," in name[1:-1] and is_id


def _time(text: str, context: Context) -> datetime | None:
    time = english_time(text)
    return in_utc(time, context.zone) if time is not None else None


def _owners(folders: Iterable[_Folder], people: People) -> dict[_Folder, Owner]:
    """Return whose each folder is."""
    known = sorted(folders, key=lambda folder: folder.key)
    names = {folder.who for folder in known}
    with_id = sum(bool(_by_id(who, people)) for who in names)
    # One student may call themselves as if the site put another's id behind the name.
    has_ids = with_id > sum(bool(people.by_name(who)) for who in names)
    teams = Teams(people)
    return all_or_no_teams({folder: _owner(folder, people, teams, has_ids=has_ids) for folder in known})


def _by_id(who: str, people: People) -> tuple[Person, ...]:
    name, _, number = who.rpartition(_SEPARATOR)
    found = {
        one.student or id(one): one
        for kind in (IdKind.SIS, IdKind.LOGIN)
        for one in people.by_id(kind, number.strip())
        if _has_name(one, name, people)
    }
    return tuple(found.values())


def _owner(folder: _Folder, people: People, teams: Teams, *, has_ids: bool) -> Owner:
    by_id = _by_id(folder.who, people)
    if has_ids and len(by_id) == 1:
        return Owner(by_id, by=By.ID)
    # Any way of reading it that makes somebody else of it is a doubt.
    fitting = [one for way in _ways(folder) for one in people.by_name(way)]
    doubtful = {one.student or id(one): one for one in (*fitting, *by_id)}
    found, team = people.by_name(folder.who), teams.members(folder.who)
    if (found or team) and (len(doubtful) > 1 or (doubtful and team)):
        names = " or ".join(sorted(_known(one) for one in doubtful.values()))
        what = f"It may be {names}{' or a group' if team else ''}, who are called the same"
        return Owner(problem=f"{what}. {BY_HAND}")
    if found or team:
        return Owner(found or team, by=By.NAME if found else By.TEAM)
    group = "If it is a group, name a roster that has a column Groups."
    return Owner(problem=f"Nobody in the roster is called {folder.who!r}. {_ROSTER} {group}")


def _ways(folder: _Folder) -> Iterator[str]:
    """Yield what somebody may be called whose folder it is: numbers in front may be the site's."""
    yield folder.who
    at = 0
    for _ in range(_WAYS):
        match = _ANY_NUMBERS.match(folder.who, at)
        if match is None:
            break
        at = match.end()
        yield folder.who[at:]


def _has_name(person: Person, name: str, people: People) -> bool:
    ways = {fold(way) for one in people.of(person) for way in full_names(one)}
    return not ways or fold(name) in ways


def _known(person: Person) -> str:
    """Return how to tell a person from their namesakes."""
    more = next((one for one in (person.student, *person.ids.values(), person.email) if one), "")
    return f"{person.shown} ({more})" if more else person.shown
