"""Folders: links and devices refused, read as the archive that they were once."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from autograder.errors import CourseError, OperatorError, SubmissionError
from autograder.lms.archive.damage import is_of_names
from autograder.lms.archive.names import DEPTH, Member, is_left_behind
from autograder.lms.archive.reading import OpenArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.lms.archive.limits import Limits

_LINK = "It is a link, which could lead anywhere. Replace it by what it leads to."
_TOO_DEEP = "It lies deeper than a disk can read. Move it."
_NO_FILE = "It is no plain file. Remove it."


class FolderArchive(OpenArchive[Path]):
    """
    A folder, opened: one that an archive was unpacked into, or one that somebody has filled.

    Parameters
    ----------
    folder : Path
        The folder.
    limits : Limits
        What is too much.

    Raises
    ------
    CourseError
        If it holds too many files.
    OperatorError
        If it cannot be read.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        found = []
        for member in _walk(folder):
            found.append(member)
            if len(found) > limits.entries:
                what = f"holds more than {limits.entries} files and folders"
                raise CourseError(folder, what, "Name the folder of the submissions.")
        super().__init__(str(folder), (one for one in found if not _is_folder(one)), limits)

    @contextmanager
    def _opened(self, handle: Path, name: str) -> Iterator[BinaryIO]:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            with os.fdopen(os.open(handle, flags), "rb") as stream:
                if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                    raise SubmissionError(name, "is no plain file", "Remove it.")
                yield stream
        except OSError as error:
            raise OperatorError(name, f"cannot be read ({error.strerror})", "Check its rights.") from None


def _is_folder(member: Member[Path]) -> bool:
    return member.name.endswith("/")


def _walk(folder: Path) -> Iterator[Member[Path]]:
    """Yield what lies below a folder, folders with a slash behind their name."""
    waiting = [(folder, "")]
    while waiting:
        place, prefix = waiting.pop()
        try:
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
            for entry in entries:
                name, path = prefix + entry.name, place / entry.name
                if is_left_behind(entry.name):
                    # All of it, however much that is.
                    yield Member(name=name, size=0, handle=path)
                elif entry.is_dir(follow_symlinks=False):
                    yield Member(name=f"{name}/", size=0, handle=path)
                    if name.count("/") <= DEPTH:
                        waiting.append((path, f"{name}/"))
                else:
                    yield _member(entry, name, path)
        except OSError as error:
            if not is_of_names(error):
                raise OperatorError(
                    place, f"cannot be read ({error.strerror})", "Check its rights."
                ) from None
            yield Member(name=prefix.removesuffix("/"), size=0, problem=_TOO_DEEP, handle=place)


def _member(entry: os.DirEntry[str], name: str, path: Path) -> Member[Path]:
    status = entry.stat(follow_symlinks=False)
    is_file = stat.S_ISREG(status.st_mode)
    problem = "" if is_file else _LINK if entry.is_symlink() else _NO_FILE
    return Member(
        name=name,
        size=status.st_size if is_file else 0,
        modified=datetime.fromtimestamp(status.st_mtime),  # noqa: DTZ006 - as in other archives
        problem=problem,
        handle=path,
    )
