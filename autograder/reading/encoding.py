"""The encoding of a notebook's text: UTF-8 as it must be, or UTF-16 or UTF-32 as some editors save it."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.reading.unreadable import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENDS = {"le": "little-endian", "be": "big-endian"}
_CUT_OFF = {"unexpected end of data", "truncated data"}

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16, whose mark is the first half of this one.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# JSON begins with two characters of ASCII, so that its first zero bytes tell the rest.
_BEGINNINGS = (
    (re.compile(rb"[\t\n\r -~]\0\0\0"), "utf-32-le"),
    (re.compile(rb"\0\0\0[\t\n\r -~]"), "utf-32-be"),
    (re.compile(rb"[\t\n\r -~]\0[^\0]\0"), "utf-16-le"),
    (re.compile(rb"\0[\t\n\r -~]\0[^\0]"), "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """
    How a file's characters are stored.

    Parameters
    ----------
    codec : str
        Python's name for it.
    mark : bytes
        The byte order mark that the file begins with; may be empty.
    """

    codec: str
    mark: bytes = b""

    @property
    def usual(self) -> bool:
        """True for UTF-8."""
        return self.codec == "utf-8"

    def __str__(self) -> str:
        """Return its name for people."""
        if self.usual:
            return "UTF-8"
        name, _, end = self.codec.rpartition("-")
        return f"{name.upper()} ({_ENDS[end]})"


UTF_8 = Encoding("utf-8")


def encoding_of(head: bytes) -> Encoding:
    """
    Return the encoding that a file's first bytes tell.

    Parameters
    ----------
    head : bytes
        The first four bytes or more.

    Returns
    -------
    Encoding
        UTF-8 unless a byte order mark or the zeros of wide characters say otherwise.
    """
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return Encoding(codec, mark)
    for beginning, codec in _BEGINNINGS:
        if beginning.match(head):
            return Encoding(codec)
    return UTF_8


def decoded(content: bytes, encoding: Encoding) -> str:
    """
    Return the text of a file.

    Parameters
    ----------
    content : bytes
        The whole file, or UTF-8 that was made of it.
    encoding : Encoding
        Its encoding.

    Returns
    -------
    str
        The text without its byte order mark. It may hold lone surrogates. A
        character that is cut off at the end is U+FFFD.

    Raises
    ------
    Unreadable
        If a byte belongs to no character.
    """
    content = content.removeprefix(encoding.mark)
    try:
        return content.decode(encoding.codec)
    except UnicodeDecodeError:
        pass
    try:
        return content.decode(encoding.codec, "surrogatepass")
    except UnicodeDecodeError as problem:
        if problem.reason in _CUT_OFF and problem.end >= len(content):
            return content[: problem.start].decode(encoding.codec, "surrogatepass") + "\ufffd"
        before = content[: problem.start].decode(encoding.codec, "replace")
        place = len(encoding.mark) + problem.start
        raise _no_character(content[problem.start], place, line_after(before), encoding) from None


def as_utf8(pieces: Iterable[bytes], encoding: Encoding) -> Iterator[bytes]:
    """
    Yield the bytes of a file as UTF-8 without a byte order mark, piece by piece.

    Parameters
    ----------
    pieces : iterable of bytes
        The file.
    encoding : Encoding
        Its encoding.

    Yields
    ------
    bytes
        UTF-8; lone surrogates are encoded like other characters, and a
        character that is cut off at the end is U+FFFD. What is UTF-8 already
        is passed on unchecked.

    Raises
    ------
    Unreadable
        If a byte belongs to no character.
    """
    decoder = codecs.getincrementaldecoder(encoding.codec)("surrogatepass")
    left, done, line = encoding.mark, 0, 1
    for piece in pieces:
        content = piece.removeprefix(left)
        left = b""
        if encoding.usual:
            yield content
            continue
        try:
            text = decoder.decode(content)
        except UnicodeDecodeError as problem:
            byte = problem.object[problem.start]
            raise _no_character(byte, done + problem.start, line, encoding) from None
        done += len(piece)
        line += text.count("\n")
        yield text.encode("utf-8", "surrogatepass")
    if decoder.getstate()[0]:
        yield "\ufffd".encode()


def well_formed(text: str) -> str:
    """Return a text whose halves of characters are joined, or replaced by U+FFFD if they are alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def line_after(text: str) -> int:
    """Return the number of the line that a text ends in, whatever its lines end with."""
    return 1 + (text.count("\n") or text.count("\r"))


def _no_character(byte: int, place: int, line: int, encoding: Encoding) -> Unreadable:
    what = f"is not {encoding} text: byte {place} in line {line} (0x{byte:02x}) belongs to no character"
    return Unreadable(what, "Save it as UTF-8 with the editor that changed it, or let Jupyter save it.")
