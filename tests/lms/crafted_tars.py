"""Tars as nobody should: headers that hold more than any file needs, or lead the parser in circles."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

END = bytes(2 * tarfile.BLOCKSIZE)


def header(kind: bytes, data: bytes = b"", *, name: str = "x", size: int | None = None) -> bytes:
    """Return a header of a kind with what it holds, its size a lie or not."""
    one = tarfile.TarInfo(name)
    one.type, one.size = kind, len(data) if size is None else size
    return one.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


def record(key: str, value: str) -> bytes:
    """Return a record of a pax header."""
    rest = f" {key}={value}\n".encode()
    length = len(rest) + 1
    while len(str(length)) + len(rest) != length:
        length += 1
    return str(length).encode() + rest


def tar_of(parts: Iterable[bytes]) -> bytes:
    """Return a tar of headers."""
    return b"".join(parts) + END


FILE = header(tarfile.REGTYPE, b"1" * 700, name="hw1.ipynb")
HOSTILE = {
    "long names in a row": tar_of([header(tarfile.GNUTYPE_LONGNAME, b"a" * 10)] * 2000 + [FILE]),
    "attributes in a row": tar_of([header(tarfile.XHDTYPE, record("path", "a"))] * 2000 + [FILE]),
    "digits": tar_of([header(tarfile.XHDTYPE, b"1" * 250_000), FILE]),
    "digits in a value": tar_of([header(tarfile.XHDTYPE, record("comment", "1" * 8000)), FILE] * 500),
    "digits for all": tar_of([header(tarfile.XGLTYPE, b"1" * 8000), FILE]),
    "records in records": tar_of([header(tarfile.XHDTYPE, b"2 " * 4000 + b"="), FILE] * 300),
    "many attributes": tar_of([header(tarfile.XHDTYPE, record("a", "") * 1300), FILE] * 900),
    "much for all": tar_of([header(tarfile.XGLTYPE, record("a", "b" * 5000)), FILE] * 2),
    "a long name": tar_of([header(tarfile.GNUTYPE_LONGNAME, b"a" * 9000), FILE]),
    "a size below zero": tar_of([FILE, header(tarfile.REGTYPE, size=-1024), FILE]),
    "a name's size below zero": tar_of([header(tarfile.GNUTYPE_LONGNAME, b"a", size=-5), FILE]),
    "attributes that lead back": tar_of([header(tarfile.XHDTYPE, record("size", "-1536")), FILE]),
    "a size beyond any disk": tar_of([header(tarfile.XHDTYPE, record("size", str(2**63 - 1))), FILE]),
    "a size beyond any number": tar_of([header(tarfile.XHDTYPE, record("size", str(2**70))), FILE]),
    "holes": tar_of([header(tarfile.GNUTYPE_SPARSE), FILE]),
    "holes in attributes": tar_of([header(tarfile.XHDTYPE, record("GNU.sparse.map", "1,2,3")), FILE]),
    "a broken header": tar_of([FILE, b"x" * 512, FILE]),
    "half a header": FILE + FILE[:100],
}
"""By what is wrong with it."""
