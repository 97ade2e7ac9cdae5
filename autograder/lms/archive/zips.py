"""Zip files: names decoded, links, bombs and damage refused."""

from __future__ import annotations

import stat
import struct
import zipfile
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.lms.archive.damage import AGAIN, DAMAGED, unread, words_of
from autograder.lms.archive.names import Member, is_left_behind
from autograder.lms.archive.reading import OpenArchive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from autograder.lms.archive.limits import Limits, Meter

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How entries may be packed: as an LMS and any system's own program do. Others unpack without bounds."""

_ENTRY_BYTES = 512
"""What an entry of the directory may take up, on the average."""

_END, _LOCATOR = struct.Struct("<4s4H2LH"), struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_MAX_COMMENT = 2**16
_HEADER_BYTES = 30
_UTF8, _ENCRYPTED = 0x800, 0x2041


class ZipArchive(OpenArchive[zipfile.ZipInfo]):
    """
    A zip, opened.

    Parameters
    ----------
    where : str
        What errors call it.
    file : BinaryIO
        The zip; it is closed with the archive.
    limits : Limits
        What is too much.
    outer : Meter, optional
        That of the archive around it.

    Raises
    ------
    SubmissionError
        If it is damaged, or has too many entries.
    OperatorError
        If it cannot be read.
    """

    def __init__(self, where: str, file: BinaryIO, limits: Limits, outer: Meter | None = None) -> None:
        self._file = file
        try:
            if _directory_bytes(file) > limits.entries * _ENTRY_BYTES:
                raise _too_many(where, limits)
            self._zip = zipfile.ZipFile(file)
        except DAMAGED as error:
            what = f"is no zip that can be read ({words_of(error)})"
            raise SubmissionError(where, what, AGAIN) from None
        except OSError as error:
            raise unread(where, error) from None
        infos = self._zip.infolist()
        if sum(not is_left_behind(info.filename) for info in infos) > limits.entries:
            raise _too_many(where, limits)
        shared = _overlapping(infos, self._zip.start_dir)
        files = (info for info in infos if not _is_folder(info))
        super().__init__(where, (_member(info, shared) for info in files), limits, outer)

    def close(self) -> None:
        """Close it."""
        self._zip.close()
        self._file.close()

    @contextmanager
    def _opened(self, handle: zipfile.ZipInfo, name: str) -> Iterator[BinaryIO]:
        try:
            with self._zip.open(handle) as stream:
                yield stream  # type: ignore[misc] # it is one in all but name
        except DAMAGED as error:
            what = f"is damaged ({words_of(error)})"
            raise SubmissionError(name, what, AGAIN) from None
        except OSError as error:
            raise unread(name, error) from None

    def _packed_bytes(self, handle: zipfile.ZipInfo) -> int:
        packed: int = handle.compress_size
        return packed


def _too_many(where: str, limits: Limits) -> SubmissionError:
    return SubmissionError(
        where, f"has more than {limits.entries} entries", "Look at it; it may be an attack."
    )


def _directory_bytes(file: BinaryIO) -> int:
    """Return how large the directory of a zip is; `zipfile` reads it whole, however large that is."""
    end = file.seek(0, 2)
    begin = max(end - _END.size - _MAX_COMMENT - _LOCATOR.size - _END_64.size, 0)
    file.seek(begin)
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        return 0
    sizes: list[int] = [_END.unpack_from(tail, at)[5]]
    locator = at - _LOCATOR.size
    if locator >= 0 and tail.startswith(b"PK\6\7", locator):
        _, _, place, _ = _LOCATOR.unpack_from(tail, locator)
        for where in (begin + locator - _END_64.size, place):
            file.seek(min(max(where, 0), end))
            record = file.read(_END_64.size)
            if len(record) == _END_64.size and record.startswith(b"PK\6\6"):
                sizes.append(_END_64.unpack(record)[8])
    return max(sizes)


def _overlapping(infos: list[zipfile.ZipInfo], directory: int) -> set[int]:
    """Return where the entries begin that lie over another, or over the zip's own directory."""
    places = sorted((info.header_offset, _end(info)) for info in infos)
    shared, reach, last = set(), 0, -1
    for begin, end in places:
        if begin < reach:
            shared |= {last, begin}
        if end > directory:
            shared.add(begin)
        if end > reach:
            reach, last = end, begin
    return shared


def _end(info: zipfile.ZipInfo) -> int:
    """Return where an entry ends at the earliest."""
    return info.header_offset + _HEADER_BYTES + len(_raw_name(info)) + info.compress_size


def _raw_name(info: zipfile.ZipInfo) -> bytes:
    return info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437", "surrogatepass")


def _is_folder(info: zipfile.ZipInfo) -> bool:
    return info.orig_filename.endswith(("/", "\\")) and not info.file_size


def _member(info: zipfile.ZipInfo, shared: set[int]) -> Member[zipfile.ZipInfo]:
    name, note = _decoded(info)
    return Member(
        name=name,
        size=info.file_size,
        modified=_time(info),
        problem=_problem(info, shared),
        note=note,
        content=(info.CRC, info.file_size),
        handle=info,
    )


def _decoded(info: zipfile.ZipInfo) -> tuple[str, str]:
    """Return a name, and what was guessed of it: without a flag it may be of any code page."""
    if info.flag_bits & _UTF8:
        return info.orig_filename, ""
    raw = _raw_name(info)
    try:
        return raw.decode(), ""
    except UnicodeDecodeError:
        return raw.decode("cp437"), "Its name does not say in which letters it is; it was read as DOS did."


def _time(info: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*info.date_time)  # noqa: DTZ001 - the zone is not told
    except ValueError:
        return None


def _problem(info: zipfile.ZipInfo, shared: set[int]) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "It is a link, which could lead anywhere. Ask for the file itself."
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "It is no plain file. Ask for the file itself."
    if info.flag_bits & _ENCRYPTED:
        return "It is encrypted. Ask for it without a password."
    if info.compress_type not in METHODS:
        return "It is packed in a way that is not taken. Ask for an ordinary zip."
    if info.header_offset in shared:
        return "It shares its bytes with another entry, as in a zip bomb. Look at it."
    return ""
