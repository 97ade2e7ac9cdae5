"""
Moodle: submissions in folders or flat, of students, teams or participants without a name.

What Moodle puts before a file is ``<name>_<number>_assignsubmission_<kind>``. The
number is the participant's in this assignment, which the grading worksheet knows
too, or a team's; the name is what is left of a full name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from autograder.lms.downloads.attempts import (
    By,
    Owner,
    Teams,
    all_or_no_teams,
    attempts_of,
    in_utc,
    one_for_each,
    own_paths,
)
from autograder.lms.downloads.model import Attempt, Download, Left
from autograder.lms.downloads.owners import BY_HAND
from autograder.lms.model import IdKind, Lms
from autograder.lms.people import fold, full_names
from autograder.terminal import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from autograder.lms.downloads.model import Archive, Context, Entry
    from autograder.lms.model import Person

_PART = re.compile(
    r"(?P<name>[^_]*)(?:_(?P<number>\d+))?_(?P<type>assignsubmission|assignfeedback)_(?P<plugin>[a-z]+)"
    r"(?:_(?P<rest>.*))?",
    re.DOTALL,
)
_DROPPED = re.compile(r"[&<>\"`|':\\/\x00-\x1f\x7f]|\.{2,}")
"""What Moodle leaves out of names of files."""
_BLIND = {"participant", "teilnehmerin", "teilnehmer", "participante", "partecipante", "deelnemer"}
"""What Moodle calls everybody while names are hidden, in some languages."""

_MINUTE = timedelta(minutes=1)
_NAMED = 8
"""Students that are named one by one."""

_WORKSHEET = (
    "Download the grading worksheet of this assignment (in Moodle: View all submissions, Download "
    "grading worksheet), and name it with --roster."
)
_TEAM = "If it is a team, name a roster that has a column Groups with --roster."


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What Moodle puts before the files of one participant or team."""

    name: str
    number: str

    @property
    def key(self) -> str:
        """The folder's name, as an upload of feedback may have it."""
        shown = f"{self.name}_{self.number}" if self.number else self.name
        return f"{shown}_assignsubmission_file"


@dataclass(slots=True)
class _Found:
    """All of one participant's or team's."""

    files: list[tuple[str, Entry]] = field(default_factory=list)
    others: list[tuple[str, str, Entry]] = field(default_factory=list)
    """What is no file that was uploaded: plugin, path, entry."""


def fold_name(name: str) -> str:
    """
    Return what two names share that Moodle writes the same way.

    Parameters
    ----------
    name : str
        A full name or a team's.

    Returns
    -------
    str
        Without what Moodle leaves out (O'Hara is OHara), with spaces for underscores.
    """
    return fold(_DROPPED.sub("", name).replace("_", " "))


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is of Moodle.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    float
        The share of the entries that have its names.
    """
    known = [_parsed(entry.name) is not None for entry in archive.entries]
    return sum(known) / len(known) if known else 0.0


def read(archive: Archive, context: Context) -> Download:
    """
    Understand a download of Moodle.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in. With participant numbers, of the grading worksheet, these count.

    Returns
    -------
    Download
        One attempt for each participant, or each member of a team: Moodle gives out
        the last one only. Times are those of the worksheet, if that is the roster.
    """
    found: dict[tuple[str, _Prefix], _Found] = defaultdict(_Found)
    left: list[Left] = []
    for entry in archive.entries:
        parsed = _parsed(entry.name)
        if parsed is None:
            reason = f"Moodle gives no such name to what is handed in. {BY_HAND}"
            left.append(Left(name=entry.name, reason=reason))
            continue
        match, around, path = parsed
        one = found[around, _Prefix(match["name"], match["number"] or "")]
        if match["type"] == "assignfeedback":
            left.append(Left(name=entry.name, reason="Feedback of course staff.", harmless=True))
        elif match["plugin"] == "file":
            one.files.append((path, entry))
        else:
            one.others.append((match["plugin"], path, entry))
    found = {where: one for where, one in found.items() if one.files or one.others}
    owners = _Finder(context, [prefix for _, prefix in found]).owners()
    whose = one_for_each(all_or_no_teams(owners), _WORKSHEET)
    attempts = [
        attempt
        for (_, prefix), one in found.items()
        for attempt in attempts_of(
            whose[prefix], Attempt(key=prefix.key, person=None, files=_files(one), named=prefix.name)
        )
    ]
    times = [_time(one.person, context) for one in attempts]
    timed = [
        replace(one, submitted_at=None if time is None else in_utc(time, context.zone))
        for one, time in zip(attempts, times, strict=True)
    ]
    return Download(
        lms=Lms.MOODLE, attempts=tuple(timed), left=tuple(left), notes=tuple(_old_times(attempts, times))
    )


def _time(person: Person | None, context: Context) -> datetime | None:
    """Return when the worksheet says that something was handed in, by the site's clock."""
    known = context.people.of(person) if person is not None else ()
    times = [one.submitted_at for one in known if one.lms is Lms.MOODLE and one.submitted_at is not None]
    return max(times, default=None)


def _old_times(attempts: Iterable[Attempt], times: Iterable[datetime | None]) -> Iterator[str]:
    """Yield what to know where files are later than the worksheet says: it may be older than the zip."""
    later = [
        one.named
        for one, time in zip(attempts, times, strict=True)
        # The worksheet has whole minutes, and a zip whole steps of two seconds.
        if time is not None
        and any(entry.modified and entry.modified >= time + _MINUTE for _, entry in one.files)
    ]
    if later:
        yield (
            f"files of {some(sorted(set(later)), _NAMED)} are later in the zip than the worksheet says that "
            "they were handed in: if it is older than the zip, late work has an early time. "
            "Download both at the same time"
        )


def _parsed(name: str) -> tuple[re.Match[str], str, str] | None:
    """Return the first part of a path that Moodle has made, the folders around it, and the file's path."""
    parts = name.split("/")
    for number, part in enumerate(parts):
        match = _PART.fullmatch(part)
        if match is not None:
            rest = [match["rest"]] if match["rest"] else []
            path = "/".join([*rest, *parts[number + 1 :]])
            return (match, "/".join(parts[:number]), path) if path else None
    return None


def _files(one: _Found) -> tuple[tuple[str, Entry], ...]:
    """Return the files of a submission; what is no upload gives way where an upload has its name."""
    taken = {path.casefold() for path, _ in one.files}
    others = [
        (f"{plugin}/{path}" if path.casefold() in taken else path, entry)
        for plugin, path, entry in one.others
    ]
    return own_paths([*one.files, *others])


# -------------------------------------------------------------------- whose


class _Finder:
    """Finds whose the prefixes of one download are."""

    def __init__(self, context: Context, prefixes: list[_Prefix]) -> None:
        self._people = context.people
        self._teams = Teams(context.people, fold_name)
        self._prefixes = prefixes
        self._numbered = bool(context.people.ids(IdKind.PARTICIPANT))
        numbers: dict[str, set[str]] = defaultdict(set)
        for prefix in prefixes:
            numbers[fold_name(prefix.name)].add(prefix.number)
        self._shared = {name for name, known in numbers.items() if len(known) > 1}
        """Names that several participants have: the word for a hidden name, or namesakes."""
        plain = sum(bool(self._people.by_name(name, fold_name)) for name in numbers)
        behind = sum(next(self._behind_group(prefix), None) is not None for prefix in prefixes)
        self._grouped = behind > plain
        """Whether this Moodle writes groups before names; else whoever begins so is called so."""

    def owners(self) -> dict[_Prefix, Owner]:
        by = self._by_number if self._numbered else self._by_name
        return {prefix: by(prefix) for prefix in self._prefixes}

    def _by_number(self, prefix: _Prefix) -> Owner:
        found = self._people.by_id(IdKind.PARTICIPANT, prefix.number)
        team = self._teams.members(prefix.name)
        if len(found) == 1 and self._agrees(prefix, found[0]):
            return Owner(found, by=By.ID)
        if team and not (found and self._is_blind(prefix)):
            return self._team(prefix, Owner(team, by=By.TEAM), Owner(found))
        if not found:
            what = f"The worksheet has no participant {prefix.number or 'of that name'}"
            return Owner(problem=f"{what}. {_WORKSHEET} {_TEAM}")
        if len(found) > 1:
            return Owner(problem=f"Participant {prefix.number} is several people. {_WORKSHEET}")
        if self._is_blind(prefix):
            return self._hidden(prefix, found[0])
        what = f"Participant {prefix.number} is {found[0].shown} in the worksheet, but {prefix.name!r} here"
        return Owner(problem=f"{what}: it is of another assignment, or this is a team. {_WORKSHEET} {_TEAM}")

    def _team(self, prefix: _Prefix, team: Owner, numbered: Owner) -> Owner:
        """Return the team, if its number is not that of a participant who is not in it."""
        if numbered.students <= team.students:
            return team
        names = " and ".join(sorted(_known(one) for one in numbered.people))
        what = f"{prefix.name!r} is a team in the roster, but {prefix.number} is the number of {names}"
        return Owner(problem=f"{what}, who is not in it. {BY_HAND}")

    def _hidden(self, prefix: _Prefix, person: Person) -> Owner:
        """Return whose it is where the download hides names: the worksheet must not hide them too."""
        if person.student or person.email or self._names(person) or len(person.ids) > 1:
            return Owner((person,), by=By.ID)
        what = f"Names are hidden here and in the worksheet, so nobody can tell who is {prefix.number}"
        remedy = "Reveal the students' identities in Moodle, and download both again."
        return Owner(problem=f"{what}. {remedy}")

    def _by_name(self, prefix: _Prefix) -> Owner:
        people = {
            one.student or id(one): one
            for one in (*self._people.by_name(prefix.name, fold_name), *self._behind_group(prefix))
        }
        if not self._grouped and not self._people.by_name(prefix.name, fold_name):
            people = {}
        team = self._teams.members(prefix.name)
        if len(people) == 1 and not team:
            return Owner(tuple(people.values()))
        if people:
            names = " or ".join(sorted(_known(one) for one in people.values()))
            team_too = " or a team" if team else ""
            return Owner(problem=f"It may be {names}{team_too}, who are called the same. {_WORKSHEET}")
        if team:
            return Owner(team, by=By.TEAM)
        if self._is_blind(prefix):
            return Owner(problem=f"Names are hidden in this download. {_WORKSHEET}")
        what = f"Nobody in the roster is called {prefix.name!r}"
        return Owner(problem=f"{what}. {_WORKSHEET} {_TEAM}")

    def _behind_group(self, prefix: _Prefix) -> Iterator[Person]:
        """Yield who has the end of a name behind the group that they are in: old Moodle, ``Group-Name``."""
        whole = fold_name(prefix.name)
        for hyphen in re.finditer("-", whole):
            group, name = whole[: hyphen.start()].strip(), whole[hyphen.end() :]
            if group not in self._teams:
                continue
            team = {one.student or id(one) for one in self._teams.members(group)}
            for person in self._people.by_name(name, fold_name):
                if (person.student or id(person)) in team:
                    yield person

    def _agrees(self, prefix: _Prefix, person: Person) -> bool:
        """Return whether a person has a name, perhaps behind a group's."""
        whole, names = fold_name(prefix.name), self._names(person)
        return whole in names or any(name and whole.endswith((f"-{name}", f"- {name}")) for name in names)

    def _names(self, person: Person) -> set[str]:
        return {fold_name(way) for one in self._people.of(person) for way in full_names(one)}

    def _is_blind(self, prefix: _Prefix) -> bool:
        name = fold_name(prefix.name)
        return name in _BLIND or (name in self._shared and not self._people.by_name(name, fold_name))


def _known(person: Person) -> str:
    """Return how to tell a person from their namesakes."""
    ids: Iterable[str] = (person.student, person.email, *person.ids.values())
    more = next((one for one in ids if one), "")
    return f"{person.shown} ({more})" if more else person.shown
