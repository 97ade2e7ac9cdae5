"""What readers of downloads have in common: owners of attempts, teams, names of files, times."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from autograder.lms.downloads.owners import BY_HAND
from autograder.lms.people import fold
from autograder.lms.texts import same_on_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from autograder.lms.downloads.model import Attempt, Entry
    from autograder.lms.model import Person
    from autograder.lms.people import People

Key = TypeVar("Key", bound="Hashable")

_NO_TEAM = "It is called like a group, but here students hand in for themselves: its members do not get it"
_NO_STUDENT = "It is called like a student, but here groups hand in"


class By(Enum):
    """What tells whose an attempt is."""

    ID = "id"
    """An id or a number that only the LMS writes."""
    NAME = "name"
    """A name: students change theirs, and two may have the same."""
    TEAM = "team"
    """The name of a team, so that it is everybody's who is in it."""


@dataclass(frozen=True, slots=True)
class Owner:
    """
    Whose an attempt is.

    Parameters
    ----------
    people : tuple of Person
        One student, or all of a team; nobody if nobody can tell.
    problem : str
        Why nobody can tell, and what to do.
    by : By
        What tells.
    """

    people: tuple[Person, ...] = ()
    problem: str = ""
    by: By = By.NAME

    @property
    def students(self) -> frozenset[Hashable]:
        """What tells its people from others."""
        return frozenset(one.student or id(one) for one in self.people)


def attempts_of(owner: Owner, attempt: Attempt) -> Iterator[Attempt]:
    """
    Yield an attempt for each of its owners.

    Parameters
    ----------
    owner : Owner
        Whose it is.
    attempt : Attempt
        What was handed in; a problem that it has stays.

    Yields
    ------
    Attempt
        One, of nobody, if nobody can tell.
    """
    if not owner.people:
        yield replace(attempt, person=None, problem=owner.problem or attempt.problem)
    for person in owner.people:
        yield replace(attempt, person=person)


class Teams:
    """
    Who is in which team, as far as the roster says.

    Parameters
    ----------
    people : People
        Everybody, with the sections and groups that they are in.
    folded : callable, optional
        What the LMS does to names. By default `fold`.
    """

    def __init__(self, people: People, folded: Callable[[str], str] = fold) -> None:
        self._folded = folded
        self._members: dict[str, dict[object, Person]] = defaultdict(dict)
        for person in people.everybody:
            for section in person.sections:
                self._members[folded(section)].setdefault(person.student or id(person), person)

    def __contains__(self, folded: str) -> bool:
        """Return whether there is a team whose name is this after what the LMS does to names."""
        return folded in self._members

    def members(self, team: str) -> tuple[Person, ...]:
        """
        Return who is in a team.

        Parameters
        ----------
        team : str
            Its name, as the LMS writes it.

        Returns
        -------
        tuple of Person
            One for each student; empty if the roster knows no such team.
        """
        wanted = self._folded(team)
        return tuple(self._members.get(wanted, {}).values()) if wanted else ()


def all_or_no_teams(owners: Mapping[Key, Owner]) -> dict[Key, Owner]:
    """
    Return owners of which all are teams or none is, as of one assignment.

    Who takes the name of a team must not hand in for everybody in it, and a team that is
    called like a student not for that student.

    Parameters
    ----------
    owners : mapping of Key to Owner
        Whose each part of a download is, as far as its own name says.

    Returns
    -------
    dict of Key to Owner
        Those that there are fewer of are nobody's; what an id tells stays, and is no team's as well.
    """
    found = [owner for owner in owners.values() if owner.people]
    # Counted once, however often somebody has handed in.
    teams = {owner.students for owner in found if owner.by is By.TEAM}
    single = {owner.students for owner in found if owner.by is not By.TEAM}
    sure = frozenset[object]().union(*(owner.students for owner in found if owner.by is By.ID))

    def settled(owner: Owner) -> Owner:
        if owner.by is By.TEAM and (len(single) >= len(teams) or owner.students & sure):
            return Owner(problem=f"{_NO_TEAM}. {BY_HAND}")
        if owner.by is By.NAME and owner.people and len(single) < len(teams):
            return Owner(problem=f"{_NO_STUDENT}. {BY_HAND}")
        return owner

    # Without any of the one kind there is no doubt.
    return {key: settled(owner) if teams and single else owner for key, owner in owners.items()}


def one_for_each(owners: Mapping[Key, Owner], remedy: str) -> dict[Key, Owner]:
    """
    Return owners of an LMS that gives out one attempt of each student.

    Parameters
    ----------
    owners : mapping of Key to Owner
        Whose each part of a download is, as far as its own name says.
    remedy : str
        What to do if two parts can only be one student's.

    Returns
    -------
    dict of Key to Owner
        Such parts are nobody's, for one is of somebody whom the roster lacks; what an id tells stays.
    """
    parts: dict[Hashable, list[Key]] = defaultdict(list)
    for key, owner in owners.items():
        for student in owner.students:
            parts[student].append(key)
    shared: set[Key] = set()
    for same in parts.values():
        sure = [key for key in same if owners[key].by is By.ID]
        if len(same) > 1:
            shared |= set(same) - set(sure if len(sure) == 1 else ())
    what = "Several participants of this download can only be one student of the roster"
    refused = Owner(problem=f"{what}. {remedy}")
    return {key: refused if key in shared else owner for key, owner in owners.items()}


def own_paths(files: Iterable[tuple[str, Entry]]) -> tuple[tuple[str, Entry], ...]:
    """
    Return files so that none replaces another: those whose paths clash get a folder each.

    Parameters
    ----------
    files : iterable of (str, Entry)
        Paths in the submission's folder, and where they are in the download.

    Returns
    -------
    tuple of (str, Entry)
        Sorted by path. Two of one name become ``1/name`` and ``2/name``.
    """
    known = sorted(files, key=lambda file: (file[0], file[1].name))
    clashing = _clashing([path for path, _ in known])
    numbers = Counter[str]()
    out = []
    for path, entry in known:
        same = same_on_disk(path)
        numbers[same] += 1
        out.append((f"{numbers[same]}/{path}" if same in clashing else path, entry))
    if _clashing([path for path, _ in out]):
        out = [(f"{number}/{path}", entry) for number, (path, entry) in enumerate(known, start=1)]
    return tuple(sorted(out, key=lambda file: file[0]))


def _clashing(paths: Sequence[str]) -> set[str]:
    """Return the paths that several files have, or a file and a folder."""
    times = Counter(same_on_disk(path) for path in paths)
    folders = {str(parent) for path in times for parent in PurePosixPath(path).parents}
    return {path for path, number in times.items() if number > 1 or path in folders}


def in_utc(time: datetime, zone: tzinfo) -> datetime:
    """
    Return a time of a site in UTC.

    Parameters
    ----------
    time : datetime
        Naive, as the LMS writes it. Of an hour that is there twice, the first counts.
    zone : tzinfo
        The site's zone.

    Returns
    -------
    datetime
        Naive, in UTC. At the ends of the calendar, where it may have none, the time as it is.
    """
    try:
        return time.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return time
