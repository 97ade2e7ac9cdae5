"""
Blackboard: files called ``<assignment>_<username>_attempt_<time>_<file>``, and a note for each attempt.

Assignments and usernames may hold underscores, so where one ends and the other
begins is told by the note: it names the student, and the files as they were.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
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

if TYPE_CHECKING:
    from autograder.lms.downloads.model import Archive, Context, Entry
    from autograder.lms.people import People

_NAME = re.compile(
    r"(?P<head>.+?)_attempt_(?P<time>\d{4}(?:-\d{2}){5})(?:_(?P<file>.+)|(?P<note>\.txt))", re.DOTALL
)
"""The first time counts: a student's file may be called like that itself."""
_ARCHIVE = re.compile(r"gradebook_(?P<rest>.+)_\d{4}(?:-\d{2}){5}(?:\.zip)?", re.IGNORECASE | re.DOTALL)
_TIME = "%Y-%m-%d-%H-%M-%S"
_NOTE_BYTES = 2**20
_NAME_BYTES = 255

_AGAIN = "Download the submissions from Blackboard again, with all files, and collect the zip as it is."
_ROSTER = "Download the gradebook from Blackboard once more, and name it with --roster."


@dataclass(slots=True)
class _Found:
    """All of one attempt."""

    head: str
    time: str
    note: Entry | None = None
    files: list[tuple[str, Entry]] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{self.head}_attempt_{self.time}"


@dataclass(frozen=True, slots=True)
class _Note:
    """What Blackboard says of an attempt."""

    login: str
    originals: dict[str, str]
    """Names of files as the student had them, by names in the download."""


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is of Blackboard.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    float
        The share of the entries that have its names.
    """
    known = [_NAME.fullmatch(PurePosixPath(entry.name).name) is not None for entry in archive.entries]
    return sum(known) / len(known) if known else 0.0


def read(archive: Archive, context: Context) -> Download:
    """
    Understand a download of Blackboard.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in, and the zone of Blackboard's times.

    Returns
    -------
    Download
        All attempts with their times; Blackboard does not say which are late.
    """
    found: dict[tuple[str, str, str], _Found] = {}
    left: list[Left] = []
    for entry in archive.entries:
        path = PurePosixPath(entry.name)
        match = _NAME.fullmatch(path.name)
        if match is None:
            reason = f"Blackboard gives no such name to what is handed in. {BY_HAND}"
            left.append(Left(name=entry.name, reason=reason))
            continue
        where = str(path.parent), match["head"], match["time"]
        one = found.setdefault(where, _Found(match["head"], match["time"]))
        if match["note"]:
            one.note = entry
            left.append(Left(name=entry.name, reason="Blackboard's note of an attempt.", harmless=True))
        else:
            one.files.append((match["file"], entry))
    notes = {where: note for where, one in found.items() if (note := _note(archive, one)) is not None}
    titles = _titles(archive, notes)
    teams = Teams(context.people)
    logins = {
        where: {notes[where].login} if where in notes else _logins(one, titles)
        for where, one in found.items()
    }
    whose = all_or_no_teams({where: _owner(logins[where], context.people, teams) for where in found})
    attempts: list[Attempt] = []
    for where, one in found.items():
        named = " or ".join(sorted(logins[where])) or one.head
        attempt = replace(_attempt(one, notes.get(where), context), named=named)
        attempts += attempts_of(whose[where], attempt)
    return Download(lms=Lms.BLACKBOARD, attempts=tuple(attempts), left=tuple(left))


def _note(archive: Archive, one: _Found) -> _Note | None:
    """Read the note of an attempt; None if there is none, or it does not name the one of its own name."""
    if one.note is None:
        return None
    try:
        text = archive.read(one.note, _NOTE_BYTES).decode("utf-8-sig", "replace")
    except SubmissionError:
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    values = [_value(line) for line in lines]
    login = _login(values[0]) if values else None
    if login is None or not one.head.endswith(f"_{login}"):
        return None
    entries = {PurePosixPath(entry.name).name for _, entry in one.files}
    # What students have typed stands above Blackboard's list of files, so the last one counts.
    originals = {stored: name for name, stored in pairwise(values) if stored in entries and _is_name(name)}
    return _Note(login, originals)


def _value(line: str) -> str:
    """Return what a line of a note says behind its label, in any language; empty if it has none."""
    label, _, value = line.partition(":")
    return value.strip() if label else ""


def _login(value: str) -> str | None:
    """Return the username at the end of the first line: ``Ana Ruiz (aruiz)``."""
    _, opened, login = value.removesuffix(")").rpartition("(")
    return login if opened and value.endswith(")") and ")" not in login else None


def _is_name(name: str) -> bool:
    """Return whether a name may be written: it is what a note says, and students can write into notes."""
    odd = any(letter in "/\\:" or unicodedata.category(letter) in {"Cc", "Cs"} for letter in name)
    return not odd and name not in {"", ".", ".."} and len(name.encode()) <= _NAME_BYTES


def _titles(archive: Archive, notes: dict[tuple[str, str, str], _Note]) -> set[str]:
    """Return what the assignment may be called in names, by the notes, else by the download's own name."""
    told = {where[1].removesuffix(f"_{note.login}") for where, note in notes.items()}
    if told:
        return told
    match = _ARCHIVE.fullmatch(PurePosixPath(archive.where.replace("\\", "/")).name)
    words = match["rest"].split("_") if match else []
    return {"_".join(words[at:]) for at in range(1, len(words))}


def _logins(one: _Found, titles: set[str]) -> set[str]:
    """Return whose username may stand behind the assignment's name."""
    begun = (title for title in titles if one.head.startswith(f"{title}_"))
    return {one.head.removeprefix(f"{title}_") for title in begun}


def _attempt(one: _Found, note: _Note | None, context: Context) -> Attempt:
    originals = note.originals if note else {}
    files = [(originals.get(PurePosixPath(entry.name).name, file), entry) for file, entry in one.files]
    try:
        submitted_at = in_utc(datetime.strptime(one.time, _TIME), context.zone)  # noqa: DTZ007 - a zone follows
    except ValueError:
        submitted_at = None
    return Attempt(
        key=one.key,
        person=None,
        files=own_paths(files),
        submitted_at=submitted_at,
        problem="" if files else "No file is attached: see in Blackboard what was handed in.",
    )


def _owner(logins: set[str], people: People, teams: Teams) -> Owner:
    names = " or ".join(sorted(logins))
    if len(logins) != 1:
        what = f"It may be of {names}" if logins else "Nobody can tell whose it is"
        return Owner(problem=f"{what}: the note (.txt) that tells is missing or of another attempt. {_AGAIN}")
    (login,) = logins
    found = people.by_id(IdKind.LOGIN, login)
    if len(found) > 1:
        return Owner(problem=f"Several students have the username {login}. {_ROSTER}")
    if found:
        # Where groups hand in, one may be called like a username: only students' work is sure by it.
        return Owner(found)
    if team := teams.members(login):
        return Owner(team, by=By.TEAM)
    group = "If it is a group, name a roster with a column Group that has it."
    return Owner(problem=f"No student has the username {login} in the roster. {_ROSTER} {group}")
