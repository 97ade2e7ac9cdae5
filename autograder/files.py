"""The files beside the notebooks of a submission: which they are, and how they are copied."""

from __future__ import annotations

import errno
import shutil
from fnmatch import fnmatch
from typing import TYPE_CHECKING, BinaryIO

from autograder.errors import SubmissionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IGNORED = (".*", "__pycache__", "*.pyc", "feedback")
"""Files and folders that nbgrader neither copies nor looks at, as in `configure_nbgrader`."""

_MAX_DEPTH = 20


def files_beside(folder: Path) -> Iterator[Path]:
    """
    Yield the files of a folder that a notebook may use.

    Parameters
    ----------
    folder : Path
        The folder of a submission, or of an assignment's source; it need not exist.

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
    waiting = [(folder, 0)] if folder.is_dir() else []
    while waiting:
        place, depth = waiting.pop()
        try:
            inner = [path for path in sorted(place.iterdir()) if not _ignored(path)]
            if depth < _MAX_DEPTH:
                waiting += [(path, depth + 1) for path in inner if path.is_dir()]
            files = [path for path in inner if path.suffix != ".ipynb" and path.is_file()]
        except OSError as error:
            raise SubmissionError(place, f"cannot be read ({error.strerror})", "Check its rights.") from None
        yield from files


def _ignored(path: Path) -> bool:
    return path.is_symlink() or is_ignored(path.name)


def is_ignored(name: str) -> bool:
    """Return whether a file or folder of this name is neither copied nor looked at."""
    return any(fnmatch(name, pattern) for pattern in IGNORED)


def copy_files(source: Path, target: Path) -> None:
    """
    Copy the files beside the notebooks.

    Parameters
    ----------
    source, target : Path
        Folders. A file that is there already is replaced.

    Raises
    ------
    SubmissionError
        If a file cannot be read, or its path is too long.
    OSError
        If a file cannot be written.
    """
    for path in files_beside(source):
        try:
            reader = path.open("rb")
        except OSError as error:
            raise SubmissionError(path, f"cannot be read ({error.strerror})", "Check its rights.") from None
        with reader:
            try:
                _write(reader, target / path.relative_to(source))
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
