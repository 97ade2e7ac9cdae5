"""
Sakai: a folder for each student, ``Last, First(eid)``, and a table of grades beside them.

The names of folders in it are in the language of the site, so they are told by what
they hold. What Sakai says of lateness stands in the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from autograder.errors import AutograderError
from autograder.lms.downloads.attempts import (
    By,
    Owner,
    Teams,
    all_or_no_teams,
    attempts_of,
    one_for_each,
    own_paths,
)
from autograder.lms.downloads.model import Attempt, Download, Left
from autograder.lms.downloads.owners import BY_HAND
from autograder.lms.model import IdKind, Lms
from autograder.lms.people import fold, full_names
from autograder.lms.sakai_grades import find_grades, is_late
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from autograder.lms.downloads.model import Archive, Context, Entry
    from autograder.lms.model import Person
    from autograder.lms.people import People

_STUDENT = re.compile(r"(?P<name>.*)\((?P<eid>[^()]+)\)", re.DOTALL)
_INTERNAL = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
"""Sakai's own id, which it writes instead of an eid with odd letters."""
_STAMP = re.compile(r"(?P<seconds>\d{14})(?:\d{3})?")
_TIMESTAMP = "timestamp.txt"
_TEXT = "submissionText.html"
_RETURNED = {"feedbackText.html", "comments.txt"}
_TABLES = {"grades.csv", "grades.xls", "grades.xlsx"}
_SUBMISSION, _FEEDBACK = "submission attachment(s)", "feedback attachment(s)"
"""What the folders are called in English."""
_TABLE_BYTES, _STAMP_BYTES = 16 * 2**20, 100

_ROSTER = "Export the gradebook from Sakai once more, and name it with --roster."


@dataclass(slots=True)
class _Found:
    """All in a student's folder."""

    stamp: Entry | None = None
    texts: list[Entry] = field(default_factory=list)
    folders: dict[str, list[tuple[str, Entry]]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True)
class _Folders:
    """Which folders of students hold what they handed in, and which hold what they got back."""

    submissions: frozenset[str]
    feedback: frozenset[str]
    unsure: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Row:
    """What the table of grades says of a student or a group."""

    late: bool | None
    members: str


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is of Sakai.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    float
        The share of the entries that are in folders of students with a time, or the table.
    """
    depth = _depth(archive.entries)
    if depth is None:
        return 0.0
    paths = [entry.name.split("/") for entry in archive.entries]
    has_table = any(parts[-1] in _TABLES and len(parts) == depth + 1 for parts in paths)
    stamped = {
        tuple(parts[:-1])
        for parts in paths
        # Others have times too; the names of Sakai's folders end in an id, unless they are anonymous.
        if parts[-1] == _TIMESTAMP
        and len(parts) == depth + 2
        and (has_table or _STUDENT.fullmatch(parts[-2]))
    }
    known = [
        tuple(parts[: depth + 1]) in stamped if len(parts) > depth + 1 else parts[-1] in _TABLES
        for parts in paths
    ]
    return sum(known) / len(known)


def read(archive: Archive, context: Context) -> Download:
    """
    Understand a download of Sakai.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in.

    Returns
    -------
    Download
        One attempt for each student, or each member of a group, with its time and lateness.
    """
    depth = _depth(archive.entries)
    found: dict[tuple[str, ...], _Found] = defaultdict(_Found)
    left: list[Left] = []
    rows: dict[str, _Row] = {}
    for entry in archive.entries:
        parts = entry.name.split("/")
        if depth is not None and len(parts) > depth + 1:
            left += _sort(entry, parts[depth + 1 :], found[tuple(parts[: depth + 1])])
        elif depth is not None and parts[-1] in _TABLES:
            note, its_rows = _table(archive, entry)
            left.append(note)
            rows |= its_rows
        else:
            left.append(Left(name=entry.name, reason=f"Sakai puts no such file there. {BY_HAND}"))
    folders = _folders(found.values(), context.notebooks)
    teams = Teams(context.people)
    # Two downloads side by side have the same folders: what tells students apart is the name alone.
    told = {name: _owner(name, rows, context.people, teams) for *_, name in found}
    owners = {name: owner for name, (owner, _) in told.items()}
    whose = one_for_each(all_or_no_teams(owners), _ROSTER)
    attempts: list[Attempt] = []
    for where, one in found.items():
        left += _not_handed_in(one, folders)
        attempt = _attempt(archive, where[-1], one, folders)
        if attempt is not None:
            row = told[where[-1]][1]
            attempts += attempts_of(whose[where[-1]], replace(attempt, late=row.late if row else None))
    return Download(lms=Lms.SAKAI, attempts=tuple(attempts), left=tuple(left))


# ---------------------------------------------------------------- structure


def _depth(entries: Sequence[Entry]) -> int | None:
    """Return which part of a path is a student's folder: the table is beside it, a time is in it."""
    known = []
    for entry in entries:
        parts = entry.name.split("/")
        if parts[-1] in _TABLES:
            known.append(len(parts) - 1)
        elif parts[-1] == _TIMESTAMP and len(parts) > 1:
            known.append(len(parts) - 2)
    # Students may have files of these names: they lie deeper.
    return min(known, default=None)


def _sort(entry: Entry, parts: list[str], one: _Found) -> list[Left]:
    """Put an entry of a student's folder where it belongs, or return it if it is not the student's."""
    if len(parts) > 1:
        one.folders[parts[0]].append(("/".join(parts[1:]), entry))
    elif parts[0] == _TIMESTAMP:
        one.stamp = entry
    elif parts[0].endswith(_TEXT):
        one.texts.append(entry)
    elif parts[0] in _RETURNED:
        return [Left(name=entry.name, reason="Feedback of course staff.", harmless=True)]
    else:
        return [Left(name=entry.name, reason=f"Sakai puts no such file there. {BY_HAND}")]
    return []


def _folders(found: Iterable[_Found], notebooks: tuple[str, ...]) -> _Folders:
    """Tell the folders apart: by their English names, or as the only other one, or by the notebooks in it."""
    files: dict[str, set[str]] = defaultdict(set)
    for one in found:
        for name, inside in one.folders.items():
            files[name] |= {path for path, _ in inside}
    submissions = {name for name in files if name.casefold() == _SUBMISSION}
    feedback = {name for name in files if name.casefold() == _FEEDBACK}
    others = set(files) - submissions - feedback
    wanted = {f"{notebook}.ipynb" for notebook in notebooks}
    if len(others) == 1 and not submissions and (feedback or any(files[name] & wanted for name in others)):
        submissions, others = others, set()
    return _Folders(frozenset(submissions), frozenset(feedback), frozenset(others))


def _not_handed_in(one: _Found, folders: _Folders) -> Iterator[Left]:
    for name in one.folders.keys() & folders.feedback:
        for _, entry in one.folders[name]:
            yield Left(name=entry.name, reason="Feedback of course staff.", harmless=True)
    for text in one.texts:
        if not text.size:
            yield Left(name=text.name, reason="No text was typed.", harmless=True)
    if one.stamp is not None:
        yield Left(name=one.stamp.name, reason="Sakai's note of the time.", harmless=True)


def _attempt(archive: Archive, folder: str, one: _Found, folders: _Folders) -> Attempt | None:
    """Return what is in a student's folder; None if nothing was handed in."""
    unsure = sorted(one.folders.keys() & folders.unsure)
    taken = one.folders.keys() & (folders.submissions | folders.unsure)
    files = [file for name in taken for file in one.folders[name]]
    files += [(_TEXT, text) for text in one.texts if text.size]
    if not (files or one.stamp):
        return None
    problem = "" if files else "Nothing is attached: see in Sakai what was handed in."
    if unsure:
        what = f"Nobody can tell whether the folder {' or '.join(unsure)} is what was handed in, or feedback"
        problem = f"{what}. Call the one that was handed in 'Submission attachment(s)' everywhere."
    return Attempt(
        key=folder,
        person=None,
        problem=problem,
        files=own_paths(files),
        submitted_at=_time(archive, one.stamp),
        named=folder,
    )


def _time(archive: Archive, stamp: Entry | None) -> datetime | None:
    """Return when something was handed in: digits without a zone are UTC."""
    if stamp is None:
        return None
    try:
        text = archive.read(stamp, _STAMP_BYTES).decode("ascii", "replace").strip()
        digits = _STAMP.fullmatch(text)
        if digits is not None:
            return datetime.strptime(digits["seconds"], "%Y%m%d%H%M%S")  # noqa: DTZ007 - naive, in UTC
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else None
    except (AutograderError, ValueError, OverflowError):
        return None


# ---------------------------------------------------------------- the table


def _table(archive: Archive, entry: Entry) -> tuple[Left, dict[str, _Row]]:
    """Read what the table of grades says, by eid or group."""
    unread = "It cannot be read, so nobody knows from it what is late."
    try:
        sheet = parse_sheet(archive.read(entry, _TABLE_BYTES), entry.name)
    except AutograderError:
        return Left(name=entry.name, reason=unread), {}
    grades = find_grades(sheet)
    if grades is None:
        return Left(name=entry.name, reason=unread), {}
    rows = {
        sheet.cell(row, grades.eid): _Row(
            is_late(sheet.cell(row, grades.late)), sheet.cell(row, grades.members)
        )
        for row in range(grades.header + 1, len(sheet.rows))
    }
    return Left(name=entry.name, reason="Sakai's table of grades.", harmless=True), rows


# -------------------------------------------------------------------- whose


def _owner(folder: str, rows: Mapping[str, _Row], people: People, teams: Teams) -> tuple[Owner, _Row | None]:
    """Return whose a folder is, and what the table says of it."""
    match = _STUDENT.fullmatch(folder)
    if match is None:
        remedy = "If the assignment is anonymous, switch that off in Sakai, and download again."
        return Owner(problem=f"The folder names no id of a student. {remedy}"), None
    name, eid = match["name"], match["eid"]
    row = rows.get(eid)
    found = people.by_id(IdKind.LOGIN, eid)
    if len(found) > 1:
        return Owner(problem=f"Several students have the id {eid}. {_ROSTER}"), row
    odd = [one for one in people.by_name(name) if _is_odd(one)] if _INTERNAL.fullmatch(eid) else []
    if not found and len(odd) == 1:
        return Owner(tuple(odd)), row or rows.get(odd[0].ids[IdKind.LOGIN])
    if found:
        return Owner(found, by=By.ID), row
    if team := (_listed(row.members, people) if row else ()) or teams.members(name):
        return Owner(team, by=By.TEAM), row
    group = "If it is a group, name a roster that has a column Group."
    return Owner(problem=f"No student has the id {eid} in the roster. {_ROSTER} {group}"), row


def _is_odd(person: Person) -> bool:
    """Return whether Sakai may have written its own id for a person's."""
    login = person.ids.get(IdKind.LOGIN, "")
    return bool(login) and not login.isalnum()


def _listed(text: str, people: People) -> tuple[Person, ...]:
    """Return the members of a group whom the table lists, if the roster knows every one of them."""
    named = [(name.strip(" ,;"), eid) for name, eid in re.findall(r"([^()]*)\(([^()]+)\)", text)]
    for listed in (named, [("", eid) for eid in re.split(r"[\s,;]+", text.strip())]):
        found = [people.by_id(IdKind.LOGIN, eid) for _, eid in listed]
        # An id in somebody's name is no member: what stands before an id is the whole name of its owner.
        if found and all(
            len(one) == 1 and _may_be_called(one[0], name, people)
            for one, (name, _) in zip(found, listed, strict=True)
        ):
            return tuple(one for (one,) in found)
    return ()


def _may_be_called(person: Person, name: str, people: People) -> bool:
    ways = {fold(way) for one in people.of(person) for way in full_names(one)}
    return not name or not ways or fold(name) in ways
