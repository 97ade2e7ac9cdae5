"""Zips as an LMS or a student makes them, and zips as nobody should."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from autograder.lms.archive.limits import Limits
from autograder.lms.archive.zips import ZipArchive

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from autograder.lms.archive import OpenArchive

UTF8, ENCRYPTED = 0x800, 1
_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s4H2LH")


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """Return an ordinary zip."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(zipfile.ZipInfo(name, (2027, 3, 1, 10, 5, 0)), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    """Write an ordinary zip."""
    path.write_bytes(zip_bytes(files))
    return path


class RawZip:
    """A zip of which every byte of a name, every flag and every size can be a lie."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._directory: list[bytes] = []

    def add(
        self, name: bytes | str, data: bytes = b"", *, mode: int = stat.S_IFREG | 0o644, **lies: int
    ) -> RawZip:
        """
        Add an entry.

        Lies are ``flags``, ``method``, ``size``, ``packed_size``, ``crc`` and ``at``, an offset.
        """
        raw = name if isinstance(name, bytes) else name.encode()
        flags = lies.get("flags", 0 if isinstance(name, bytes) else UTF8)
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(data) + packer.flush()
        method, crc = lies.get("method", 8), lies.get("crc", zlib.crc32(data))
        sizes = lies.get("packed_size", len(packed)), lies.get("size", len(data))
        at = lies.get("at", len(self.data))
        if "at" not in lies:
            self.data += _LOCAL.pack(b"PK\3\4", 20, flags, method, 0, 0x21, crc, *sizes, len(raw), 0)
            self.data += raw + packed
        head = (b"PK\1\2", 0x314, 20, flags, method, 0, 0x21, crc, *sizes, len(raw), 0, 0, 0, 0)
        self._directory.append(_CENTRAL.pack(*head, mode << 16, at) + raw)
        return self

    def bytes(self, *, large: bool = False) -> bytes:
        """Return the zip; a large one has its sizes in records of 64 bits."""
        directory, at, count = b"".join(self._directory), len(self.data), len(self._directory)
        end = _END.pack(b"PK\5\6", 0, 0, count, count, len(directory), at, 0)
        if large:
            sizes = (44, 45, 45, 0, 0, count, count, len(directory), at)
            end = _END.pack(b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
            locator = struct.pack("<4sLQL", b"PK\6\7", 0, at + len(directory), 1)
            end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", *sizes) + locator + end
        return bytes(self.data) + directory + end


def overlapping(copies: int, size: int) -> bytes:
    """Return a zip whose many entries are the same bytes: each unpacks, all together are a bomb."""
    bomb = RawZip().add("0.ipynb", bytes(size))
    for number in range(1, copies):
        bomb.add(f"{number}.ipynb", bytes(size), at=0)
    return bomb.bytes()


SMALL = Limits(entries=40, total_bytes=5_000_000, entry_bytes=2_000_000, ratio=50, ratio_from_bytes=100_000)


def opened(data: bytes, limits: Limits = SMALL) -> ZipArchive:
    """Open a zip in memory."""
    return ZipArchive("made.zip", io.BytesIO(data), limits)


def contents(archive: OpenArchive[Any]) -> dict[str, bytes]:
    """Read everything."""
    return {entry.name: archive.read(entry) for entry in archive.entries}


def reasons(archive: OpenArchive[Any]) -> dict[str, str]:
    """Return what was left out, and why."""
    return {one.name: one.reason for one in archive.left if not one.harmless}
