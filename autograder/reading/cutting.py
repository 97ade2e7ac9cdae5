"""
Outputs cut out of a notebook's text before it is read.

Students print in loops and save pictures of many megabytes. Nothing of that
is graded, and as JSON it takes many times the memory that it takes as text.
So the text is followed by its strings and brackets alone, in pieces, and what
stands in outputs is passed over. Whether the rest is JSON, JSON's own reader says.
"""

from __future__ import annotations

import re

from autograder.reading.unreadable import CLEAR, Unreadable

MAX_BYTES = 64 * 2**20
"""The most text of a notebook that is read, without its outputs: photos in written answers are in it."""

MAX_BRACKETS = 8_000_000
"""The most lists and objects in a file, outputs included: some millions are a loop that printed all night."""

MAX_QUOTES = 50_000_000
"""The most quotes around texts in a file, outputs included."""

_MAX_SIGNS = 5_000_000
_MAX_KEY = 64

_SIGN = re.compile(rb'["\[\]{},:]')
_BRACKET = re.compile(rb"[\[\]{}]")

# Where outputs can stand: in (container, key) begins another container, or what is cut.
_CUT = "cut"
_WAYS = {
    ("", b""): ("notebook", b"{"),
    ("notebook", b"cells"): ("cells", b"["),
    ("notebook", b"metadata"): ("metadata", b"{"),
    ("notebook", b"worksheets"): ("worksheets", b"["),
    ("worksheets", b""): ("worksheet", b"{"),
    ("worksheet", b"cells"): ("cells", b"["),
    ("cells", b""): ("cell", b"{"),
    ("cell", b"outputs"): (_CUT, b"["),
    ("metadata", b"widgets"): (_CUT, b"{"),
}
_LISTS = {"", "cells", "worksheets"}


def masked(data: bytes, *, in_string: bool = False) -> tuple[bytes, bool]:
    r"""
    Return JSON text with everything inside strings blanked, so that all signs left are structure.

    Parameters
    ----------
    data : bytes
        A piece of JSON that does not end between a backslash and what it escapes.
    in_string : bool
        True if it begins inside a string.

    Returns
    -------
    bytes
        As long as the piece; strings keep their quotes.
    bool
        True if it ends inside a string.
    """
    # Pairs of backslashes first: what is left of them before a quote escapes it.
    parts = data.replace(b"\\\\", b"  ").replace(b'\\"', b"  ").split(b'"')
    first = 0 if in_string else 1
    parts[first::2] = [b" " * len(part) for part in parts[first::2]]
    return b'"'.join(parts), in_string ^ (len(parts) % 2 == 0)


class Cutter:
    """
    Follows a notebook's text and keeps what is no output.

    Attributes
    ----------
    kept : bytearray
        The text so far; each list of outputs in it is empty.
    cells : int
        How many cells have ended so far.
    dropped_bytes : int
        How much was cut out.
    """

    def __init__(self) -> None:
        self.kept = bytearray()
        self.cells = 0
        self.dropped_bytes = 0
        self._drops: list[tuple[int, int]] = []
        self._carry = b""
        self._in_string = False
        self._where: list[str] = []
        self._ended = False
        self._signs = 0
        self._brackets = 0
        self._quotes = 0
        # The key of the value that is next, and what is known of it.
        self._key = b""
        self._key_next = False
        self._key_start = -1
        self._quoted = False
        # How deep inside a value that nothing is looked for in.
        self._depth = 0
        self._cutting = False

    def feed(self, piece: bytes) -> None:
        """
        Take the next piece of the text.

        Parameters
        ----------
        piece : bytes
            UTF-8.

        Raises
        ------
        Unreadable
            If the text is too large, or made to be.
        """
        data = self._carry + piece
        whole = len(data) - (len(data) - len(data.rstrip(b"\\"))) % 2
        data, self._carry = data[:whole], data[whole:]
        signs, self._in_string = masked(data, in_string=self._in_string)
        self._brackets += signs.count(b"[") + signs.count(b"{")
        self._quotes += signs.count(b'"')
        start = at = 0
        while at < len(data):
            if self._depth:
                at = self._passed(signs, at)
                if self._cutting and not self._depth:
                    # The bracket that ends it is kept: JSON's reader sees whether it is the right one.
                    start = self._drop(data, start, at - 1)
                    self._cutting = False
            elif self._ended:
                at = len(data)
            else:
                at = self._followed(data, signs, at)
                if self._cutting:
                    self.kept += data[start:at]
                    start = at
        if self._cutting:
            self._drop(data, start, len(data))
        else:
            self.kept += data[start:]
        self._check()

    def close(self) -> None:
        """Take the end of the text."""
        if not self._cutting:
            self.kept += self._carry
        self._carry = b""

    def dropped_lines(self, place: int) -> int:
        """Return how many lines were cut out before a place of `kept`, in bytes."""
        return sum(lines for at, lines in self._drops if at <= place)

    def _check(self) -> None:
        if len(self.kept) > MAX_BYTES:
            raise Unreadable(f"holds more than {MAX_BYTES // 2**20} MiB even without its outputs", CLEAR)
        if self._brackets > MAX_BRACKETS or self._quotes > MAX_QUOTES or self._signs > _MAX_SIGNS:
            raise Unreadable("holds millions of values", CLEAR)

    def _drop(self, data: bytes, start: int, end: int) -> int:
        lines = data.count(b"\n", start, end) or data.count(b"\r", start, end)
        self._drops.append((len(self.kept), lines))
        self.dropped_bytes += end - start
        return end

    def _passed(self, signs: bytes, at: int) -> int:
        """Return where the value ends that nothing is looked for in, or where the piece does."""
        depth = self._depth
        if at == 0 and (closed := signs.count(b"]") + signs.count(b"}")) < depth:
            # It does not end here: most pieces of a picture have no bracket at all.
            self._depth += signs.count(b"[") + signs.count(b"{") - closed
            return len(signs)
        for bracket in _BRACKET.finditer(signs, at):
            depth += 1 if bracket[0] in b"[{" else -1
            if not depth:
                self._depth = 0
                return bracket.end()
        self._depth = depth
        return len(signs)

    def _followed(self, data: bytes, signs: bytes, at: int) -> int:
        """Return where a value begins that is passed over or cut, or where the piece ends."""
        for found in _SIGN.finditer(signs, at):
            self._signs += 1
            sign, place = found[0], found.start()
            if sign == b'"':
                self._quote(data, place)
            elif sign == b",":
                self._key_next = True
            elif sign == b":":
                self._key_next = False
            elif sign in b"[{":
                self._open(sign)
            else:
                self._close()
            if self._depth or self._ended or self._signs > _MAX_SIGNS:
                return place + 1
        if self._key_start >= 0:
            self._key = (self._key + data[self._key_start :])[:_MAX_KEY]
            self._key_start = 0
        return len(signs)

    def _quote(self, data: bytes, place: int) -> None:
        self._quoted = not self._quoted
        if self._quoted and self._key_next:
            self._key, self._key_start = b"", place + 1
        elif self._key_start >= 0:
            self._key = (self._key + data[self._key_start : place])[:_MAX_KEY]
            self._key_start = -1

    def _open(self, sign: bytes) -> None:
        where = self._where[-1] if self._where else ""
        step, bracket = _WAYS.get((where, b"" if where in _LISTS else self._key), ("", b""))
        if bracket == sign and step != _CUT:
            self._where.append(step)
            self._key, self._key_next = b"", True
        else:
            self._depth, self._cutting = 1, bracket == sign

    def _close(self) -> None:
        if self._where and self._where.pop() == "cell":
            self.cells += 1
        self._ended = not self._where
        self._key_next = False
