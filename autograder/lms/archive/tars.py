"""Tar files, compressed with gzip or not: links, devices, bombs and damage refused."""

from __future__ import annotations

import gzip
import tarfile
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO, cast

from autograder.errors import SubmissionError
from autograder.lms.archive.damage import AGAIN, DAMAGED, unread, words_of
from autograder.lms.archive.headers import GuardedTar
from autograder.lms.archive.limits import MIB
from autograder.lms.archive.names import Member, is_left_behind
from autograder.lms.archive.reading import CHUNK_BYTES, OpenArchive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.lms.archive.limits import Limits, Meter

GZIP = b"\x1f\x8b"

_LEFT_BEHIND = 10
"""So many times more entries there may be, if they are of what is left behind."""


class TarArchive(OpenArchive[tarfile.TarInfo]):
    """
    A tar, opened; a compressed one is unpacked into a file without a name first.

    Parameters
    ----------
    where : str
        What errors call it.
    file : BinaryIO
        The tar; it is closed with the archive.
    limits : Limits
        What is too much.
    outer : Meter, optional
        That of the archive around it.

    Raises
    ------
    SubmissionError
        If it is damaged, or too much.
    OperatorError
        If it cannot be read.
    """

    def __init__(self, where: str, file: BinaryIO, limits: Limits, outer: Meter | None = None) -> None:
        self._file = file
        try:
            if file.read(len(GZIP)) == GZIP:
                self._file = _unpacked(where, file, limits)
            self._file.seek(0)
            self._tar = GuardedTar(where, self._file, limits.entries)
            found = list(_members(where, self._tar, limits))
        except SubmissionError:
            self._file.close()
            raise
        except DAMAGED as error:
            self._file.close()
            what = f"is no tar that can be read ({words_of(error)})"
            raise SubmissionError(where, what, AGAIN) from None
        except OSError as error:
            self._file.close()
            raise unread(where, error) from None
        super().__init__(where, found, limits, outer)

    def close(self) -> None:
        """Close it."""
        self._tar.close()
        self._file.close()

    @contextmanager
    def _opened(self, handle: tarfile.TarInfo, name: str) -> Iterator[BinaryIO]:
        try:
            # A plain file has a stream.
            with cast("BinaryIO", self._tar.extractfile(handle)) as stream:
                yield stream
        except DAMAGED as error:
            what = f"is damaged ({words_of(error)})"
            raise SubmissionError(name, what, AGAIN) from None
        except OSError as error:
            raise unread(name, error) from None


def _unpacked(where: str, file: BinaryIO, limits: Limits) -> BinaryIO:
    """Return what is in a compressed file, within limits."""
    packed = file.seek(0, 2)
    file.seek(0)
    most = min(limits.total_bytes, max(limits.ratio * packed, limits.ratio_from_bytes))
    with ExitStack() as to_close, file, gzip.GzipFile(fileobj=file) as stream:
        whole = cast("BinaryIO", to_close.enter_context(tempfile.TemporaryFile()))
        done = 0
        while part := stream.read(CHUNK_BYTES):
            done += len(part)
            if done > most:
                what = f"unpacks to more than {most // MIB} MiB"
                raise SubmissionError(where, what, "Look at it; it may be an attack.")
            whole.write(part)
        to_close.pop_all()
    return whole


def _members(where: str, tar: tarfile.TarFile, limits: Limits) -> Iterator[Member[tarfile.TarInfo]]:
    number = 0
    for everything, info in enumerate(tar, start=1):
        number += not is_left_behind(info.name)
        if number > limits.entries or everything > _LEFT_BEHIND * limits.entries:
            what = f"has more than {limits.entries} entries"
            raise SubmissionError(where, what, "Look at it; it may be an attack.")
        if not info.isdir():
            yield Member(
                name=info.name,
                size=info.size if info.isreg() else 0,
                modified=_time(info),
                problem=_problem(info),
                handle=info,
            )


def _time(info: tarfile.TarInfo) -> datetime | None:
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(info.mtime, UTC).replace(tzinfo=None)
    return None


def _problem(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return "It is a link, which could lead anywhere. Ask for the file itself."
    if not info.isreg() or info.issparse():
        return "It is no plain file. Ask for the file itself."
    return ""
