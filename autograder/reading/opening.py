"""Opening a file that somebody handed in: only a plain file, and not more of it than can be read."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from autograder.errors import OperatorError
from autograder.reading.unreadable import CLEAR, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_BYTES = 2**30
"""The largest file that is looked at; browsers, and so Jupyter, open no more than half of it."""

CHUNK_BYTES = 2**18
"""How much of a file is looked at at a time."""

_REFUSED = {
    errno.ELOOP: ("is a link, not a file", "Replace it by the notebook itself."),
    errno.ENOENT: ("is not there", "Hand in the notebook under this name."),
    errno.ENOTDIR: ("is not there", "Hand in the notebook under this name."),
    errno.EISDIR: ("is a folder", "Replace it by the notebook itself."),
    errno.ENXIO: ("is not a plain file", "Replace it by the notebook itself."),
    errno.EACCES: ("may not be read (permission denied)", "Give whoever grades the right to read it."),
    errno.EPERM: ("may not be read (permission denied)", "Give whoever grades the right to read it."),
}


@contextmanager
def opened(path: Path, *, follow: bool) -> Iterator[BinaryIO]:
    """
    Open a plain file for reading.

    Parameters
    ----------
    path : Path
        The file.
    follow : bool
        True follows a link. A student's could point at somebody else's work,
        at a pipe, or at /dev/zero.

    Yields
    ------
    file
        The open file, unbuffered.

    Raises
    ------
    Unreadable
        If it is no plain file, may not be read, or is too large.
    OperatorError
        If the machine fails.
    """
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    )
    flags |= 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    try:
        with _plain(os.open(path, flags)) as file:
            yield file
    except OSError as problem:
        if problem.errno in _REFUSED:
            raise Unreadable(*_REFUSED[problem.errno]) from None
        what = f"cannot be read ({problem.strerror})"
        raise OperatorError(path, what, "Look after the disk or the file system, then try again.") from None


def read_up_to(file: BinaryIO, size: int) -> bytes:
    """Return the next bytes of a file: as many as asked for, fewer only at its end."""
    parts = []
    while size > 0 and (part := file.read(min(size, 2**24))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def chunks(file: BinaryIO, head: bytes) -> Iterator[bytes]:
    """
    Yield the bytes of a file in pieces.

    Parameters
    ----------
    file : file
        As `opened` gave it.
    head : bytes
        What was read of it already.

    Yields
    ------
    bytes
        The head in pieces, then the rest; none is longer than 256 KiB.

    Raises
    ------
    Unreadable
        If the file has grown beyond what is looked at.
    """
    read = len(head)
    yield from (head[at : at + CHUNK_BYTES] for at in range(0, len(head), CHUNK_BYTES))
    while part := file.read(CHUNK_BYTES):
        read += len(part)
        if read > MAX_FILE_BYTES:
            raise _too_large()
        yield part


def _plain(descriptor: int) -> BinaryIO:
    about = os.fstat(descriptor)
    if stat.S_ISREG(about.st_mode) and about.st_size <= MAX_FILE_BYTES:
        return os.fdopen(descriptor, "rb", buffering=0)
    os.close(descriptor)
    if stat.S_ISREG(about.st_mode):
        raise _too_large()
    raise Unreadable(*_REFUSED[errno.EISDIR if stat.S_ISDIR(about.st_mode) else errno.ENXIO])


def _too_large() -> Unreadable:
    return Unreadable(f"is larger than {MAX_FILE_BYTES // 2**20} MiB", CLEAR)
