"""
Which submissions a run is at work on, so that several runs on one course share it.

A hold is a lock on one byte of a file, at a place that the submission's name
gives. The system lets go of it when the process ends, however it ends, so that
nothing has to be cleaned up.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import struct
from typing import TYPE_CHECKING, Self

from autograder.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FLOCK = struct.Struct("hhqqi4x")
"""The `struct flock` of 64-bit Linux: type, whence, start, length, process."""
_TAKEN = {errno.EAGAIN, errno.EACCES}
_PLACES = 2**62


class Holds:
    """
    The submissions that this run holds; a context manager.

    Parameters
    ----------
    path : Path
        The file whose bytes are locked; it is made if it is not there, with
        its folder, and stays empty.

    Raises
    ------
    OperatorError
        If it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except OSError as problem:
            raise self._error(problem) from None

    def __enter__(self) -> Self:
        """Return the holds."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of all of them."""
        os.close(self._descriptor)

    def take(self, assignment: str, student: str) -> bool:
        """
        Hold a submission.

        Parameters
        ----------
        assignment, student : str
            The submission.

        Returns
        -------
        bool
            False if another run holds it.

        Raises
        ------
        OperatorError
            If the file system knows no locks.
        """
        return self._lock(fcntl.F_WRLCK, assignment, student)

    def let_go(self, assignment: str, students: Iterable[str]) -> None:
        """Give submissions free for other runs."""
        for student in students:
            self._lock(fcntl.F_UNLCK, assignment, student)

    def _lock(self, kind: int, assignment: str, student: str) -> bool:
        # Locks of the open file, not of the process: closing another copy of the file keeps them.
        request = _FLOCK.pack(kind, os.SEEK_SET, _place(assignment, student), 1, 0)
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, request)
        except OSError as problem:
            if problem.errno in _TAKEN:
                return False
            raise self._error(problem) from None
        return True

    def _error(self, problem: OSError) -> OperatorError:
        what = f"cannot be locked ({problem.strerror})"
        return OperatorError(self._path, what, "Check rights, space, and that the file system knows locks.")


def _place(assignment: str, student: str) -> int:
    name = f"{assignment}\0{student}".encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "big") % _PLACES
