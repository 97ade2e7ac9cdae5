"""The folders of submissions: what is in them, how a new one takes its place, where the old one goes."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import stat
import tempfile
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.layout import Step, plain_name
from autograder.course.timestamps import FILE
from autograder.errors import CourseError, OperatorError, SubmissionError
from autograder.lms.archive.damage import is_of_names, words_of
from autograder.lms.archive.names import is_left_behind
from autograder.lms.archive.reading import CHUNK_BYTES
from autograder.lms.collecting.record import FOLDER
from autograder.terminal import short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from autograder.course.layout import Layout
    from autograder.lms.collecting.handed import Handed
    from autograder.lms.collecting.record import Collected

STAGING = ".{}~"
"""How the folder begins in which a submission is written, before it takes its place."""

_DIGITS, _WORDS = 12, 200


@dataclass(frozen=True, slots=True)
class Shelf:
    """
    Where the submissions of an assignment are, and earlier ones.

    Parameters
    ----------
    layout : Layout
        The course's folders.
    assignment : str
        The assignment.
    """

    layout: Layout
    assignment: str

    def folder(self, student: str) -> Path:
        """Return the folder of a submission."""
        return self.layout.path(Step.SUBMITTED, self.assignment, student)

    def earlier(self, student: str) -> Path:
        """Return the folder of a student's earlier attempts; neither nbgrader nor the kit grades them."""
        return self.layout.root / FOLDER / "earlier" / plain_name(student) / plain_name(self.assignment)

    def problem(self, student: str) -> str:
        """Return why nothing can be put there, and what to do; empty if it can."""
        try:
            folder = self.folder(student)
        except CourseError as error:
            return f"{error.where} {error.what}. {error.remedy}"
        if self.layout.is_linked(student, self.assignment):
            return f"{folder} is reached through a link. Replace the link by the folder itself."
        blocking = next((one for one in (folder, *folder.parents) if os.path.lexists(one)), folder)
        if os.path.lexists(blocking) and not blocking.is_dir():
            return f"{blocking} is no folder. Move it away."
        return ""

    def holds(self, collected: Collected) -> bool:
        """
        Return whether a submission's folder holds what was collected, and nothing else.

        Parameters
        ----------
        collected : Collected
            What was collected.

        Returns
        -------
        bool
            What systems and Jupyter leave behind does not count, nor does a
            ``timestamp.txt`` that somebody has added where the LMS tells no time.

        Raises
        ------
        OperatorError
            If the folder cannot be read.
        """
        wanted = {file.path: (file.size, file.sha256) for file in collected.files}
        there = dict(_files(self.folder(collected.student)))
        if collected.submitted_at is None:
            there.pop(FILE, None)
        else:
            time = timestamp(collected.submitted_at).encode()
            wanted[FILE] = len(time), hashlib.sha256(time).hexdigest()
        if there.keys() != wanted.keys() or any(one.size != wanted[path][0] for path, one in there.items()):
            return False
        return all(_digest(one.path) == wanted[path][1] for path, one in there.items())

    def is_there(self, student: str) -> bool:
        """Return whether there is anything of a student's."""
        return next(_files(self.folder(student)), None) is not None

    # ------------------------------------------------------------- writing

    def sweep(self, student: str) -> None:
        """Remove what a collect that was killed has left beside a submission."""
        for folder in (self.folder(student), self.earlier(student) / "x"):
            pattern = STAGING.format("*" if folder.name == "x" else glob.escape(folder.name))
            for left in folder.parent.glob(f"{pattern}*"):
                shutil.rmtree(left, ignore_errors=True)

    def put(self, handed: Handed, before: Collected | None) -> None:
        """
        Put an attempt into the submission's folder, whole or not at all.

        Parameters
        ----------
        handed : Handed
            The attempt.
        before : Collected or None
            What is there; None if nothing is, or nobody knows what it is. It is
            moved to the earlier attempts.

        Raises
        ------
        SubmissionError
            If the download has changed since it was read, or the disk refuses a name in it.
        OperatorError
            If a file or folder cannot be written.
        """
        target = self.folder(handed.student)
        try:
            with _beside(target) as scratch:
                new = _written(handed, scratch)
                if os.path.lexists(target):
                    self._move_away(handed.student, before, scratch)
                new.rename(target)
        except (OSError, UnicodeError) as error:
            raise _unwritten(target, error) from None

    def put_aside(self, handed: Handed) -> None:
        """
        Keep an attempt that does not count.

        Parameters
        ----------
        handed : Handed
            The attempt. If it is kept already, nothing is done.

        Raises
        ------
        SubmissionError, OperatorError
            As of `put`.
        """
        place = self._place(handed.collected)
        try:
            if not place.is_dir():
                with _beside(place) as scratch:
                    _written(handed, scratch).rename(place)
        except (OSError, UnicodeError) as error:
            raise _unwritten(place, error) from None

    def _place(self, collected: Collected) -> Path:
        """Return where an attempt is kept that does not count."""
        files = sorted((file.path, file.sha256) for file in collected.files)
        return self._named(collected.student, collected.submitted_at, "no-time", repr(files))

    def _named(self, student: str, at: datetime | None, otherwise: str, content: str) -> Path:
        time = otherwise if at is None else f"{at:%Y%m%dT%H%M%SZ}"
        mark = hashlib.sha256(content.encode()).hexdigest()[:_DIGITS]
        return self.earlier(student) / f"{time}-{mark}"

    def _move_away(self, student: str, before: Collected | None, scratch: Path) -> None:
        """Move what is in a submission's folder to the earlier attempts."""
        folder = self.folder(student)
        if before is None:
            files = sorted((path, _digest(one.path)) for path, one in _files(folder))
            place = self._named(student, None, "by-hand", repr(files))
        else:
            place = self._place(before)
        if not next(folder.iterdir(), None) or place.is_dir():
            folder.rename(scratch / "old")
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.parent.stat().st_dev == folder.stat().st_dev:
            folder.rename(place)
            return
        # Submissions may be on another disk than the course.
        with _beside(place) as copies:
            shutil.copytree(folder, copies / "old", symlinks=True)
            (copies / "old").rename(place)
        folder.rename(scratch / "old")


def timestamp(at: datetime) -> str:
    """
    Return what stands in a ``timestamp.txt``, as nbgrader writes it.

    Parameters
    ----------
    at : datetime
        Naive, in UTC.

    Returns
    -------
    str
        As "2027-01-31 23:59:00.000000 UTC".
    """
    return f"{at.isoformat(sep=' ', timespec='microseconds')} UTC"


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    size: int
    """-1 of what is no plain file."""


def _files(folder: Path) -> Iterator[tuple[str, _File]]:
    """Yield what lies below a folder by its path in it; nothing if there is no folder."""
    waiting = [(folder, "")]
    while waiting:
        place, prefix = waiting.pop()
        try:
            with os.scandir(place) as listing:
                entries = list(listing)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if not is_of_names(error):
                raise OperatorError(
                    place, f"cannot be read ({error.strerror})", "Check its rights."
                ) from None
            # Whatever it is, it was not collected.
            yield prefix.removesuffix("/"), _File(place, -1)
            continue
        for entry in entries:
            name = unicodedata.normalize("NFC", prefix + entry.name)
            if is_left_behind(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append((place / entry.name, f"{name}/"))
            else:
                status = entry.stat(follow_symlinks=False)
                size = status.st_size if stat.S_ISREG(status.st_mode) else -1
                yield name, _File(place / entry.name, size)


def _digest(path: Path) -> str:
    """Return the hash of a plain file; empty of anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ""
            digest = hashlib.sha256()
            while part := file.read(CHUNK_BYTES):
                digest.update(part)
            return digest.hexdigest()
    except OSError:
        return ""


def _unwritten(place: Path, error: OSError | UnicodeError) -> SubmissionError | OperatorError:
    """Return what to tell of a folder that could not be written; it is as it was."""
    if is_of_names(error):
        what = f"cannot be written, as a name in it is none that the disk takes ({words_of(error)})"
        return SubmissionError(place, what, "Ask for shorter and plainer names.")
    what = f"cannot be written ({short(getattr(error, 'strerror', None) or words_of(error), _WORDS)})"
    return OperatorError(place, what, "Check rights and space, and collect again.")


@contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """Make a folder for what is to be moved to a place; whatever is left in it is removed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=STAGING.format(place.name), dir=place.parent) as scratch:
        yield Path(scratch)


def _written(handed: Handed, scratch: Path) -> Path:
    """Write an attempt into a new folder, and return it."""
    folder = scratch / "new"
    folder.mkdir()
    files = set()
    for one in handed.reading().contents():
        path = folder / one.file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(one.data)
        files.add(one.file)
    if files != set(handed.collected.files):
        where = f"{handed.collected.archive}: {handed.collected.key}"
        raise SubmissionError(where, "was changed while it was collected", "Collect it again.")
    if handed.collected.submitted_at is not None:
        (folder / FILE).write_text(timestamp(handed.collected.submitted_at), encoding="utf-8")
    return folder
