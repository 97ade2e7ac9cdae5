"""
The headers of a tar, looked at before `tarfile` parses them.

It reads those that hold long names and attributes whole, one within another,
and in a time that grows with the square of what a made-up one holds.
"""

from __future__ import annotations

import re
import tarfile
from typing import TYPE_CHECKING, Any, Self, cast

from autograder.errors import SubmissionError
from autograder.lms.archive.damage import AGAIN

if TYPE_CHECKING:
    from typing import BinaryIO

HEADER_BYTES = 8 * 1024
"""The longest header of a file that is taken: a path of any system fits twice."""

ROW = 4
"""The most headers that may stand before one file: long name, long link, attributes of one and of all."""

_EACH_BYTES = 2 * 1024
"""What the headers of a file may take up, on the average."""

_LONG = {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
_FOR_ALL = {tarfile.XGLTYPE}
_PAX = {tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE} | _FOR_ALL
_SPARSE = b"GNU.sparse."

# No part of a path is that long; `tarfile` looks for records from each digit on.
_DIGITS = re.compile(rb"\d{256}")
_LENGTH = re.compile(rb"\d{1,5} ")


class GuardedTar(tarfile.TarFile):
    """
    A tar of which nothing is parsed that could keep the parser busy.

    Parameters
    ----------
    where : str
        What errors call it.
    file : BinaryIO
        The tar, not compressed.
    entries : int
        How many entries it may have.
    """

    def __init__(self, where: str, file: BinaryIO, entries: int) -> None:
        self.where = where
        self.row = 0
        # Kept by `tarfile` for each file, or copied for each.
        self.left_bytes = entries * _EACH_BYTES
        self.left_for_all_bytes = HEADER_BYTES
        super().__init__(fileobj=file, mode="r", errors="surrogateescape", tarinfo=_Guarded)

    def damaged(self, why: str) -> SubmissionError:
        """Return what is raised of it."""
        what = f"is no tar that can be read ({why})"
        return SubmissionError(self.where, what, AGAIN)

    def check(self, header: tarfile.TarInfo) -> None:
        """
        Look at a header before it is parsed.

        Parameters
        ----------
        header : TarInfo
            The first block of it; its content is what the file holds from here on.

        Raises
        ------
        SubmissionError
            If it is damaged, or too much.
        """
        if header.size < 0:
            raise self.damaged("a size is negative")
        if header.type == tarfile.GNUTYPE_SPARSE:
            raise self._sparse()
        if header.type not in _PAX | _LONG:
            self.row = 0
            return
        self.row += 1
        self.left_bytes -= header.size
        self.left_for_all_bytes -= header.size if header.type in _FOR_ALL else 0
        if header.size > HEADER_BYTES or self.row > ROW or min(self.left_bytes, self.left_for_all_bytes) < 0:
            what = "has longer headers than any file needs"
            raise SubmissionError(self.where, what, "Look at it; it may be an attack.")
        if header.type in _PAX:
            self._check_records(cast("BinaryIO", self.fileobj).read(header.size).rstrip(b"\0"))

    def _check_records(self, data: bytes) -> None:
        """Look at the records of a header: length, name, value, each in a line that is as long as it says."""
        at = 0
        while at < len(data):
            length = _LENGTH.match(data, at)
            end = at + int(length.group()) if length is not None else 0
            start = length.end() if length is not None else at
            if not start < end <= len(data) or data[end - 1 : end] != b"\n":
                raise self.damaged("a header holds no records")
            if data.find(b"=", start + 1, end) < 0:
                raise self.damaged("a header holds a record without a name")
            if data.startswith(_SPARSE, start):
                raise self._sparse()
            at = end
        if _DIGITS.search(data):
            raise self.damaged("a header holds a number that is too long")

    def _sparse(self) -> SubmissionError:
        what = "holds a file with holes, which is not taken"
        return SubmissionError(self.where, what, "Ask for one that was packed without --sparse.")


class _Guarded(tarfile.TarInfo):
    """A header, looked at before it is parsed: `tarfile` calls this for each, also for one within another."""

    @classmethod
    def fromtarfile(cls, tarfile: Any, **options: Any) -> Self:
        file, start = tarfile.fileobj, tarfile.fileobj.tell()
        tarfile.check(_first(tarfile, file.read(_BLOCK)))
        file.seek(start)
        info = super().fromtarfile(tarfile, **options)
        if tarfile.offset <= start or info.size < 0:
            raise tarfile.damaged("an entry leads back")
        return info


_BLOCK = tarfile.BLOCKSIZE


def _first(tar: GuardedTar, block: bytes) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):  # type: ignore[attr-defined] # not in its stubs
        # Its end; `tarfile` finds it as well.
        return tarfile.TarInfo()
    except tarfile.HeaderError as error:
        # `tarfile` would take what is broken for the end.
        raise tar.damaged(str(error)) from None
