"""
What was collected of an assignment, from which file of which download: kept beside the course.

It is what makes a second collect do nothing, tells a folder that somebody has
changed by hand, and lets feedback go back under the names that the LMS gave.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from autograder.course.layout import plain_name
from autograder.errors import OperatorError
from autograder.lms.model import IdKind, Lms
from autograder.lms.sheets import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = ".autograder"
"""The folder of a course in which the kit keeps what only it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedFile:
    """
    A file of a submission and where it came from.

    Parameters
    ----------
    path : str
        Where it is in the submission's folder, with ``/``.
    entry : str
        What the LMS called it: the whole name in the download, with ``/``.
    inner : str
        Its name in that entry, if that was an archive which a student had made; else empty.
    size : int
        Bytes.
    sha256 : str
        Of its content, in hexadecimal digits.
    """

    path: str
    entry: str
    inner: str = ""
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """
    One student's submission, as it was collected.

    Parameters
    ----------
    student : str
        The id in this course.
    lms : Lms
        Where it was handed in.
    archive : str
        The name of the download, without its folder.
    key : str
        What the LMS calls the attempt, see `autograder.lms.downloads.model.Attempt`.
    named : str
        Whose it is in the words of the download.
    ids : mapping of IdKind to str
        By which ids the LMS knows the student; a participant's number is of this assignment.
    files : tuple of CollectedFile
        All that was written, sorted by path; ``timestamp.txt`` is the kit's and not among them.
    submitted_at : datetime or None
        Naive, in UTC; None if the download did not say.
    late : bool or None
        True if the LMS said that it is late; None if it said nothing.
    number : int
        As of `Attempt`: larger for a later attempt; 0 if there is none.
    same_name : int
        As of `Attempt`: how many attempts are the student's by their name alone.
    """

    student: str
    lms: Lms
    archive: str
    key: str
    named: str = ""
    ids: Mapping[IdKind, str] = field(default_factory=dict)
    files: tuple[CollectedFile, ...]
    submitted_at: datetime | None = None
    late: bool | None = None
    number: int = 0
    same_name: int = 0

    @property
    def entries(self) -> tuple[str, ...]:
        """What the LMS called the files, without repeats."""
        return tuple(dict.fromkeys(file.entry for file in self.files))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """
    What was collected of one assignment.

    Parameters
    ----------
    assignment : str
        The assignment.
    students : mapping of str to Collected
        By student, what is in the submission's folder; sorted.
    pending : mapping of str to Collected
        By student, what a collect that did not end was about to put there. Either may be in the folder.
    """

    assignment: str
    students: Mapping[str, Collected] = field(default_factory=dict)
    pending: Mapping[str, Collected] = field(default_factory=dict)


def record_path(root: Path, assignment: str) -> Path:
    """
    Return the file of the record of an assignment.

    Parameters
    ----------
    root : Path
        The course folder.
    assignment : str
        The assignment.

    Returns
    -------
    Path
        It need not exist.

    Raises
    ------
    CourseError
        If the name could lead elsewhere.
    """
    return root / FOLDER / "collected" / f"{plain_name(assignment)}.json"


def load_record(root: Path, assignment: str) -> Record:
    """
    Return what was collected of an assignment.

    Parameters
    ----------
    root : Path
        The course folder.
    assignment : str
        The assignment.

    Returns
    -------
    Record
        Empty if nothing was.

    Raises
    ------
    OperatorError
        If the record is there and cannot be read.
    """
    path = record_path(root, assignment)
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return Record(
            assignment=assignment,
            students=_students(told["students"]),
            pending=_students(told["pending"]),
        )
    except FileNotFoundError:
        return Record(assignment=assignment)
    except OSError as error:
        raise OperatorError(path, f"cannot be read ({error.strerror})", "Check its rights.") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        remedy = "Put it back from a copy, or move it away and collect again."
        raise OperatorError(path, "is no record of what was collected", remedy) from None


def save_record(root: Path, record: Record) -> None:
    """
    Keep what was collected, whole or not at all.

    Parameters
    ----------
    root : Path
        The course folder.
    record : Record
        What was collected.

    Raises
    ------
    OperatorError
        If it cannot be written; what was there before is still there.
    """
    told = {
        "assignment": record.assignment,
        "students": {student: _told(one) for student, one in sorted(record.students.items())},
        "pending": {student: _told(one) for student, one in sorted(record.pending.items())},
    }
    text = json.dumps(told, ensure_ascii=True, indent=1) + "\n"
    write_whole(record_path(root, record.assignment), text.encode("ascii"))


def _told(one: Collected) -> dict[str, Any]:
    return {
        "lms": one.lms.value,
        "archive": one.archive,
        "key": one.key,
        "named": one.named,
        "ids": {kind.value: value for kind, value in one.ids.items()},
        "submitted_at": one.submitted_at.isoformat() if one.submitted_at is not None else None,
        "late": one.late,
        "number": one.number,
        "same_name": one.same_name,
        "files": [
            {
                "path": file.path,
                "entry": file.entry,
                "inner": file.inner,
                "size": file.size,
                "sha256": file.sha256,
            }
            for file in one.files
        ],
    }


def _students(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Collected]:
    return {student: _collected(student, one) for student, one in sorted(told.items())}


def _collected(student: str, told: Mapping[str, Any]) -> Collected:
    at = told["submitted_at"]
    return Collected(
        student=student,
        lms=Lms(told["lms"]),
        archive=told["archive"],
        key=told["key"],
        named=told["named"],
        ids={IdKind(kind): value for kind, value in told["ids"].items()},
        files=tuple(CollectedFile(**file) for file in told["files"]),
        submitted_at=None if at is None else datetime.fromisoformat(at),
        late=told["late"],
        number=told["number"],
        # Records of before do not have it.
        same_name=told.get("same_name", 0),
    )
