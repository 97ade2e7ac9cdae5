"""What Gradescope hands to an autograder: the files of a submission, and what is known of it."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from autograder.course.timestamps import FILE
from autograder.errors import CourseError, OperatorError, SubmissionError
from autograder.lms.archive import open_archive, open_inner
from autograder.lms.archive.damage import is_of_names
from autograder.lms.archive.limits import INNER
from autograder.lms.archive.opening import PACKED
from autograder.lms.texts import same_on_disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from autograder.lms.archive import OpenArchive
    from autograder.lms.downloads.model import Entry, Left

SOMEBODY = "student"
"""Whose a submission is where Gradescope does not say."""

_NO_ID = re.compile(r"[^0-9A-Za-z-]")
_ID_LENGTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """
    What Gradescope says of a submission.

    Parameters
    ----------
    student : str
        An id made of those of its users.
    submitted_at : datetime or None
        When it was handed in, naive, in UTC; None if that is not known.
    late_s : float
        Seconds after the due date.
    """

    student: str = SOMEBODY
    submitted_at: datetime | None = None
    late_s: float = 0.0


def read_metadata(path: Path) -> Told:
    """
    Return what Gradescope says of a submission.

    Parameters
    ----------
    path : Path
        Its ``submission_metadata.json``.

    Returns
    -------
    Told
        Of what is not there or cannot be understood, nothing.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Told()
    users = [one for one in _list(record, "users") if isinstance(one, dict)]
    ids = sorted(_NO_ID.sub("", str(one["id"])) for one in users if "id" in one)
    student = f"{SOMEBODY}-{'-'.join(ids)}"[:_ID_LENGTH] if ids else SOMEBODY
    at = _time(record, "created_at")
    # A user may have an extension of their own; of a group the latest counts.
    dues = [due for one in users if (due := _time(_dict(one, "assignment"), "due_date"))]
    due = max(dues) if dues else _time(_dict(record, "assignment"), "due_date")
    late_s = max((at - due).total_seconds(), 0.0) if at is not None and due is not None else 0.0
    return Told(student=student, submitted_at=at, late_s=late_s)


def _list(record: object, name: str) -> list[Any]:
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, list) else []


def _dict(record: object, name: str) -> dict[str, Any]:
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def _time(record: object, name: str) -> datetime | None:
    words = record.get(name) if isinstance(record, dict) else None
    try:
        time_ = datetime.fromisoformat(words) if isinstance(words, str) else None
        return time_.astimezone(UTC).replace(tzinfo=None) if time_ is not None and time_.tzinfo else None
    except (ValueError, OverflowError):
        # At the ends of the calendar a time has no other zone.
        return None


def copy_submission(submission: Path, folder: Path) -> tuple[Left, ...]:
    """
    Copy what was handed in; what a student has packed is unpacked.

    Parameters
    ----------
    submission : Path
        The folder in which Gradescope has put it.
    folder : Path
        An empty folder.

    Returns
    -------
    tuple of Left
        What was left out and is missed by nobody who grades.

    Raises
    ------
    SubmissionError
        If a notebook, or what may hold one, cannot be taken.
    OperatorError
        If the machine fails.
    """
    left: list[Left] = []
    taken: set[str] = set()
    with _opened(submission) as outer:
        left += outer.left
        packed = [entry for entry in outer.entries if entry.name.lower().endswith(PACKED)]
        for entry in outer.entries:
            with _named(entry):
                if entry not in packed:
                    _write(folder, entry.name, outer.read(entry), taken)
        for entry in packed:
            with _named(entry), open_inner(outer, entry) as inner:
                left += inner.left
                place = _place(entry.name, inner.entries, taken)
                for inside in inner.entries:
                    _write(folder, place + inside.name, inner.read(inside), taken)
    for one in left:
        if not one.harmless and (".ipynb" in one.name.lower() or one.name.lower().endswith(PACKED)):
            what, _, remedy = one.reason.partition(". ")
            raise SubmissionError(one.name, f"cannot be taken: {what}", remedy or "Hand it in again.")
    return tuple(one for one in left if not one.harmless)


def _opened(submission: Path) -> OpenArchive[Any]:
    try:
        return open_archive(submission, INNER)
    except CourseError as error:
        # Here it is no download of somebody else's: whoever handed it in can mend it.
        remedy = "Hand in the notebooks, and what they read, without other folders."
        raise SubmissionError("what was handed in", error.what, remedy) from None


def _place(packed: str, entries: Iterable[Entry], taken: set[str]) -> str:
    """Return the folder in which what a student has packed takes no place of anything; empty for none."""
    first = {name.split("/")[0] for name in taken}
    if not first & {same_on_disk(entry.name.split("/")[0]) for entry in entries}:
        return ""
    names = chain([f"{packed} unpacked"], (f"unpacked {number}" for number in count(1)))
    return next(f"{name}/" for name in names if not _is_there(same_on_disk(name), taken))


def _is_there(name: str, taken: set[str]) -> bool:
    return any(one == name or one.startswith(f"{name}/") for one in taken)


@contextmanager
def _named(entry: Entry) -> Iterator[None]:
    """Tell of what cannot be read or written by the name that the student gave it."""
    try:
        yield
    except SubmissionError as error:
        raise SubmissionError(entry.name, error.what, error.remedy) from None
    except (OSError, UnicodeError) as error:
        if is_of_names(error):
            what = "holds a name that is longer than a disk takes, or has other letters"
            raise SubmissionError(entry.name, what, "Rename it, and hand it in again.") from None
        what = f"cannot be copied ({getattr(error, 'strerror', error)})"
        raise OperatorError(entry.name, what, "Check the machine.") from None


def _write(folder: Path, name: str, data: bytes, taken: set[str]) -> None:
    if same_on_disk(name) == FILE:
        # When it was handed in, Gradescope says, and no file of the student's.
        return
    taken.add(same_on_disk(name))
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
