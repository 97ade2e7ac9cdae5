"""Zip files whose bytes follow from what is in them: no times, no users, one order."""

from __future__ import annotations

import io
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from autograder.errors import CourseError, OperatorError
from autograder.whole import written_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

PLAIN, PROGRAM, PRIVATE = 0o644, 0o755, 0o600
"""Rights of a file: to be read, to be run, for its owner only."""

_WHEN = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold."""
_UNIX = 3
_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """
    A file to be put into a zip.

    Parameters
    ----------
    name : str
        Its path in the zip, parts separated by ``/``.
    data : bytes or Path
        What is in it, or the file that holds it.
    mode : int
        Its rights, as of `os.chmod`.
    """

    name: str
    data: bytes | Path
    mode: int = PLAIN

    def read(self) -> bytes:
        """
        Return what is in it.

        Returns
        -------
        bytes
            All of it.

        Raises
        ------
        OperatorError
            If its file cannot be read.
        """
        if isinstance(self.data, bytes):
            return self.data
        try:
            return self.data.read_bytes()
        except OSError as error:
            raise OperatorError(
                self.data, f"cannot be read ({error.strerror})", "Check its rights."
            ) from None


def write_zip(path: Path, files: Iterable[Packed], *, private: bool = False) -> None:
    """
    Write a zip whole or not at all; with the same files it has the same bytes.

    Parameters
    ----------
    path : Path
        The zip; its folder is made. What was there before is replaced at once.
    files : iterable of Packed
        What is in it, in this order. Names beyond ASCII are marked as UTF-8.
    private : bool
        True if only its owner may read it.

    Raises
    ------
    CourseError
        If a name leads out of the zip, or two files have the same.
    OperatorError
        If a file cannot be read or the zip not be written; what was there before is still there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path, private=private) as stream, zipfile.ZipFile(stream, "w") as archive:
            _pack(archive, files, path)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise OperatorError(path, what, "Check rights and space.") from None


def zip_bytes(files: Iterable[Packed], where: Path) -> bytes:
    """
    Return a zip; with the same files it has the same bytes.

    Parameters
    ----------
    files : iterable of Packed
        What is in it, in this order.
    where : Path
        What errors call it.

    Returns
    -------
    bytes
        All of it.

    Raises
    ------
    CourseError
        If a name leads out of the zip, or two files have the same.
    OperatorError
        If a file cannot be read.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        _pack(archive, files, where)
    return stream.getvalue()


def _pack(archive: zipfile.ZipFile, files: Iterable[Packed], where: Path) -> None:
    seen: set[str] = set()
    for file in files:
        if not _is_inside(file.name):
            raise CourseError(where, f"cannot hold a file called {file.name!r}", "Give it another name.")
        if file.name in seen:
            raise CourseError(where, f"would hold two files called {file.name!r}", "Give one another name.")
        seen.add(file.name)
        entry = zipfile.ZipInfo(file.name, _WHEN)
        entry.create_system = _UNIX
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (stat.S_IFREG | file.mode) << 16
        archive.writestr(entry, file.read(), compresslevel=_LEVEL)


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and str(path) == name and not path.is_absolute() and ".." not in path.parts
