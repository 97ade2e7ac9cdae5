"""Bytes that a worker does not send by itself: written by an accident, or by somebody who knows the form."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from autograder.findings import Severity
from autograder.sandbox.notes import shown

_HEADER = struct.Struct(">QI")
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Forged:
    """
    What was seen on the connection.

    Parameters
    ----------
    severity : Severity
        How likely it was meant.
    detail : str
        What it was, without a full stop.
    """

    severity: Severity
    detail: str


CLOSED = Forged(Severity.DOUBT, "closed its connection to the grader and ran on")
"""Code that closes every open file does this too."""
OTHER_CALL = Forged(Severity.ATTACK, "sent a frame that answers no open call")
NO_ANSWER = Forged(Severity.DOUBT, "sent an answer that cannot be read")


def unasked(data: bytes, call_id: int | None = None) -> Forged:
    """
    Return what bytes look like that nobody asked for.

    Parameters
    ----------
    data : bytes
        The first of them.
    call_id : int, optional
        The number of the call that was open when they came.
    """
    if len(data) >= _HEADER.size:
        _, length = _HEADER.unpack_from(data)
        if length <= len(data) - _HEADER.size:
            return Forged(Severity.ATTACK, f"sent a frame of {length} bytes that nobody asked for")
    number = b"" if call_id is None else call_id.to_bytes(8)
    before = data.find(number) if number else -1
    text = (data[:before] if before > 0 else data).decode("latin-1")
    if text.isascii() and all(sign.isprintable() or sign.isspace() for sign in text):
        return Forged(Severity.DOUBT, f"wrote text to its connection to the grader: {shown(text[:_SHOWN])!r}")
    return Forged(Severity.DOUBT, "wrote bytes to its connection to the grader")


def in_place_of_answer(data: bytes, call_id: int, *, most_bytes: int) -> Forged | None:
    """
    Return what bytes look like that came in place of an answer, or with one.

    Parameters
    ----------
    data : bytes
        The first of them.
    call_id : int
        The number of the open call.
    most_bytes : int
        The longest answer that its memory allows.

    Returns
    -------
    Forged or None
        None if it is an answer that is too long.
    """
    if len(data) < _HEADER.size:
        return unasked(data, call_id)
    answered, length = _HEADER.unpack_from(data)
    if answered != call_id:
        return unasked(data, call_id)
    if length > most_bytes:
        return Forged(Severity.ATTACK, f"announced an answer of {length} bytes, more than it has memory")
    rest = data[_HEADER.size + length :]
    if not rest:
        return None
    second = unasked(rest)
    return second if second.severity is Severity.ATTACK else NO_ANSWER
