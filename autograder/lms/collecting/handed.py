"""What a student handed in, as it is known after reading it once; which of two is the later one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from autograder.errors import SubmissionError
from autograder.lms.collecting.contents import Reading
from autograder.lms.collecting.record import Collected
from autograder.lms.downloads.model import Left
from autograder.lms.model import IdKind, Lms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from autograder.lms.archive import OpenArchive
    from autograder.lms.collecting.record import CollectedFile
    from autograder.lms.downloads.model import Attempt
    from autograder.lms.model import Person
    from autograder.lms.people import People


class Moment(Protocol):
    """Anything that tells when an attempt was made."""

    @property
    def lms(self) -> Lms:
        """Where."""

    @property
    def submitted_at(self) -> datetime | None:
        """When: naive, in UTC."""

    @property
    def number(self) -> int:
        """Larger for a later attempt; 0 if there is none."""


@dataclass(frozen=True, slots=True)
class Handed:
    """
    An attempt of a student of the course, read.

    Parameters
    ----------
    archive : OpenArchive
        The download.
    attempt : Attempt
        Of the download.
    collected : Collected
        What would be recorded of it.
    """

    archive: OpenArchive[Any]
    attempt: Attempt
    collected: Collected

    @property
    def student(self) -> str:
        """Whose it is: the id in the course."""
        return self.collected.student

    @property
    def digest(self) -> str:
        """The same for attempts with the same files."""
        return digest(self.collected.files)

    def reading(self) -> Reading:
        """Return what reads it once more."""
        return Reading(self.archive, self.attempt)


def read_attempt(
    archive: OpenArchive[Any], lms: Lms, people: People, attempt: Attempt, left: list[Left]
) -> Handed | None:
    """
    Read an attempt of a student of the course.

    Parameters
    ----------
    archive : OpenArchive
        The download.
    lms : Lms
        Whose.
    people : People
        Among whom its owner was found.
    attempt : Attempt
        Of a person whose id in the course is known.
    left : list of Left
        What could not be taken; more is added.

    Returns
    -------
    Handed or None
        None if nothing of it could be taken, which is told.

    Raises
    ------
    OperatorError
        If the download cannot be read.
    """
    if attempt.person is None:
        msg = "an attempt of nobody"
        raise ValueError(msg)
    reading = Reading(archive, attempt)
    try:
        files = tuple(sorted((one.file for one in reading.contents()), key=lambda file: file.path))
    except SubmissionError as error:
        left.append(Left(name=attempt.key, reason=f"{error.where}: {error.what}. {error.remedy}"))
        return None
    left += reading.left
    if not files:
        reason = f"{attempt.person.student}: nothing that could be taken was handed in. Ask what it was."
        left.append(Left(name=attempt.key, reason=reason))
        return None
    collected = Collected(
        student=attempt.person.student,
        lms=lms,
        archive=PurePath(archive.where).name,
        key=attempt.key,
        named=attempt.named,
        ids=_ids(people.of(attempt.person), lms),
        files=files,
        submitted_at=attempt.submitted_at,
        late=attempt.late,
        number=attempt.number,
        same_name=attempt.same_name,
    )
    return Handed(archive, attempt, collected)


def _ids(known: Sequence[Person], lms: Lms) -> dict[IdKind, str]:
    """Return by what the LMS of a download knows a student; by what the gradebook does, if it does not."""
    own = [one for one in known if one.lms == lms] or [one for one in known if one.lms == Lms.PLAIN]
    ids = {kind: value for one in own for kind, value in one.ids.items()}
    return {kind: ids[kind] for kind in IdKind if kind in ids}


def digest(files: Iterable[CollectedFile]) -> str:
    """
    Return what is the same for the same files.

    Parameters
    ----------
    files : iterable of CollectedFile
        The files.

    Returns
    -------
    str
        Hexadecimal digits.
    """
    told = sorted((file.path, file.sha256) for file in files)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def order(one: Moment, other: Moment) -> int | None:
    """
    Return which of two attempts of a student is the later one.

    Parameters
    ----------
    one, other : Moment
        The attempts.

    Returns
    -------
    int or None
        1 if the one is later, -1 if the other is, 0 if they are of one time; None if nobody can tell.
    """
    if one.submitted_at is not None and other.submitted_at is not None:
        return (one.submitted_at > other.submitted_at) - (one.submitted_at < other.submitted_at)
    if one.lms == other.lms and one.number and other.number:
        return (one.number > other.number) - (one.number < other.number)
    return None


def latest(attempts: Sequence[Handed]) -> tuple[Handed | None, tuple[Handed, ...]]:
    """
    Return which attempt of a student counts.

    Parameters
    ----------
    attempts : sequence of Handed
        At least one, from any number of downloads.

    Returns
    -------
    counts : Handed or None
        The one that is later than all others; None if nobody can tell.
    others : tuple of Handed
        The others; attempts with the same files are one.
    """
    different: dict[str, Handed] = {}
    for one in attempts:
        before = different.get(one.digest)
        # The same files may have been handed in once more: the later time counts, as of any attempt.
        if before is None or (order(one.collected, before.collected) or 0) > 0 or _tells_more(one, before):
            different[one.digest] = one
    known = list(different.values())
    for one in known:
        others = tuple(other for other in known if other is not one)
        if all((order(one.collected, other.collected) or 0) > 0 for other in others):
            return one, others
    return None, tuple(known)


def _tells_more(one: Handed, other: Handed) -> bool:
    return other.collected.submitted_at is None and one.collected.submitted_at is not None
