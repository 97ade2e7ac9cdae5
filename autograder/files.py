"""The files beside the notebooks of a submission: which they are, and how they are copied."""

from __future__ import annotations

import errno
import shutil
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from autograder.errors import SubmissionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

IGNORED = (".*", "__pycache__", "*.pyc", "feedback")
"""Files and folders that nbgrader neither copies nor looks at, as in `configure_nbgrader`."""

EXCHANGED = ("timestamp.txt", "submission_secret.txt")
"""What nbgrader puts beside the notebooks when they are handed in; students do not have it."""

_MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Beside:
    """
    A folder of files beside notebooks, and which of them do not count.

    Parameters
    ----------
    folder : Path
        The folder of a submission, or of an assignment's source; it need not exist.
    ignored : tuple of str
        Patterns of files and folders that are neither copied nor looked at.
    left_out : frozenset of str
        Files, by their path in the folder, that are left to another folder.
    """

    folder: Path
    ignored: tuple[str, ...] = IGNORED
    left_out: frozenset[str] = frozenset()

    @classmethod
    def of(cls, place: Path | Beside) -> Beside:
        """Return a folder of which everything usual counts, or what was told of it."""
        return cls(place) if isinstance(place, Path) else place


def files_beside(place: Path | Beside) -> Iterator[Path]:
    """
    Yield the files of a folder that a notebook may use.

    Parameters
    ----------
    place : Path or Beside
        The folder.

    Yields
    ------
    Path
        Plain files below it, at most 20 folders deep: no notebooks, nothing
        that nbgrader ignores, no links, which could name any file of the machine.

    Raises
    ------
    SubmissionError
        If a folder cannot be read.
    """
    beside = Beside.of(place)
    waiting = [(beside.folder, 0)] if beside.folder.is_dir() else []
    while waiting:
        folder, depth = waiting.pop()
        try:
            inner = [path for path in sorted(folder.iterdir()) if not _ignored(path, beside)]
            if depth < _MAX_DEPTH:
                waiting += [(path, depth + 1) for path in inner if path.is_dir()]
            files = [path for path in inner if path.suffix != ".ipynb" and path.is_file()]
        except OSError as error:
            raise SubmissionError(folder, f"cannot be read ({error.strerror})", "Check its rights.") from None
        yield from files


def files_for_code(place: Path | Beside) -> Iterator[Path]:
    """
    Yield the files of a folder that student code finds beside its notebook.

    Parameters
    ----------
    place : Path or Beside
        The folder.

    Yields
    ------
    Path
        As of `files_beside`, without what only tells when they were handed in
        and by whom: nearly every submission has that.
    """
    of_the_exchange = {Beside.of(place).folder / name for name in EXCHANGED}
    return (path for path in files_beside(place) if path not in of_the_exchange)


def _ignored(path: Path, beside: Beside) -> bool:
    if path.is_symlink() or is_ignored(path.name, beside.ignored):
        return True
    return bool(beside.left_out) and path.relative_to(beside.folder).as_posix() in beside.left_out


def is_ignored(name: str, patterns: Iterable[str] = IGNORED) -> bool:
    """Return whether a file or folder of this name is neither copied nor looked at."""
    return any(fnmatch(name, pattern) for pattern in patterns)


def copy_files(source: Path | Beside, target: Path) -> None:
    """
    Copy the files beside the notebooks.

    Parameters
    ----------
    source : Path or Beside
        Where they are.
    target : Path
        A folder. A file that is there already is replaced.

    Raises
    ------
    SubmissionError
        If a file cannot be read, or its path is too long.
    OSError
        If a file cannot be written.
    """
    folder = Beside.of(source).folder
    for path in files_beside(source):
        try:
            reader = path.open("rb")
        except OSError as error:
            raise SubmissionError(path, f"cannot be read ({error.strerror})", "Check its rights.") from None
        with reader:
            try:
                _write(reader, target / path.relative_to(folder))
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:
                    raise
                what = "its path is too long to be copied"
                raise SubmissionError(path, what, "Rename the folders, or remove the file.") from None


def _write(reader: BinaryIO, place: Path) -> None:
    # A student's folder may be called as a file of the assignment, or the other way round.
    if place.is_dir() or any(parent.is_file() for parent in place.parents):
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as writer:
        shutil.copyfileobj(reader, writer)
