"""Downloads read back: the law that every reader must keep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC
from typing import TYPE_CHECKING

from written_downloads import context_of, opened

from autograder.lms.rosters import roster_of
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from nasty_people import Nasty
    from written_downloads import Handed, Written
    from written_rosters import Written as WrittenRoster

    from autograder.lms.downloads.model import Attempt, Left, Reader
    from autograder.lms.model import Person


@dataclass(frozen=True)
class ReadAttempt:
    """An attempt with the contents of its files."""

    attempt: Attempt
    files: dict[str, bytes]

    @property
    def student(self) -> str:
        """Whose it is in the course; empty if nobody can tell."""
        return self.attempt.person.student if self.attempt.person is not None else ""


@dataclass(frozen=True)
class Understood:
    """A download, read."""

    taken: tuple[ReadAttempt, ...]
    refused: tuple[ReadAttempt, ...]
    left: tuple[Left, ...]
    sure: float
    notes: tuple[str, ...] = ()

    def of(self, student: str) -> list[ReadAttempt]:
        """Return what was taken of a student."""
        return [one for one in self.taken if one.student == student]

    @property
    def problems(self) -> str:
        """All problems in one text."""
        return "\n".join(one.attempt.problem for one in self.refused)


def enrolled(nasty: Sequence[Nasty], roster: Callable[[Sequence[Nasty]], WrittenRoster]) -> list[Person]:
    """Return people as a roster of the LMS has them, with their logins as ids in the course."""
    found = roster_of(parse_sheet(roster(nasty)[0], "roster.csv")).people
    return [replace(person, student=one.login) for person, one in zip(found, nasty, strict=True)]


def understood(written: Written, reader: Reader, people: Iterable[Person]) -> Understood:
    """Read a download; every entry must be in an attempt or be told, and every refusal says what to do."""
    with opened(written) as archive:
        download = reader.read(archive, context_of(people))
        sure = reader.fits(archive)
        read = [
            ReadAttempt(one, {path: archive.read(entry) for path, entry in one.files})
            for one in download.attempts
        ]
        entries = {entry.name for entry in archive.entries}
        left = (*archive.left, *download.left)
    seen = {entry.name for one in download.attempts for _, entry in one.files}
    assert seen | {one.name for one in download.left} >= entries
    assert not seen & {one.name for one in download.left}
    assert all(one.reason.rstrip().endswith((".", ")")) for one in left)
    taken = tuple(one for one in read if not one.attempt.problem)
    refused = tuple(one for one in read if one.attempt.problem)
    assert all(one.student for one in taken)
    assert all(one.attempt.problem.count(". ") >= 1 or ": " in one.attempt.problem for one in refused)
    assert 0 <= sure <= 1
    return Understood(taken, refused, left, sure, download.notes)


def assert_nobody_has_anothers(read: Understood, work: Sequence[Handed]) -> None:
    """Whatever was taken is that student's and whole; whatever was not is told."""
    for one in read.taken:
        own = [each for each in work if each.who.login == one.student]
        assert any(set(each.files.values()) == set(one.files.values()) for each in own), one.attempt
    told = {data for one in (*read.taken, *read.refused) for data in one.files.values()}
    names = " ".join(one.name for one in read.left)
    for each in work:
        for name, data in each.files.items():
            assert data in told or name.rpartition("/")[2] in names


def assert_taken(read: Understood, work: Iterable[Handed], *, times: bool = True, late: bool = False) -> None:
    """Everything that was handed in was taken, under its name, with what the download says of it."""
    for each in work:
        (one,) = [one for one in read.of(each.who.login) if each.files.items() <= one.files.items()]
        if times:
            assert one.attempt.submitted_at == in_minutes(each.at, one.attempt.submitted_at)
        assert one.attempt.late == (each.late if late else None)


def in_minutes(at: datetime, read: datetime | None) -> datetime:
    """Return a time in UTC, without seconds if the other has none: some LMSs do not write them."""
    naive = at.astimezone(UTC).replace(tzinfo=None)
    return naive.replace(second=0) if read is not None and read.second == 0 else naive
