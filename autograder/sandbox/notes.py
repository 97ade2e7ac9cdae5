"""
What a worker says of the code that it runs: the word of a process that a student may rule.

It becomes evidence for people and nothing else. A student can keep it from
being said, and can accuse nobody but themself.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.wire.codec import decode
from autograder.wire.frames import WireError

NO_NOTES = "no notes"
"""The kind of a note that stands for notes that cannot be read."""

_MAX_NOTES = 60
_MAX_BYTES = 1 << 18
_MAX_TEXT = 200
_MAX_COUNT = 1_000_000
_TEXTS, _FIELDS = 4, 5


@dataclass(frozen=True, slots=True)
class Note:
    """
    Something that happened, and how often.

    Parameters
    ----------
    kind : str
        "call", "replaced" or "module"; anything else means nothing.
    what : str
        The audit event of Python's, the function or the module.
    target : str
        What was asked for, or what stands there now.
    by : str
        The package that asked; empty if it was the notebook's own code.
    count : int
        How often; at least once.
    """

    kind: str
    what: str = ""
    target: str = ""
    by: str = ""
    count: int = 1


def noted(payload: bytes) -> list[Note]:
    """
    Return the notes in what a worker sent.

    Parameters
    ----------
    payload : bytes
        What it sent; anything.

    Returns
    -------
    list of Note
        A few, of texts that are short and can be printed. If it is no list
        of notes, one note says so.
    """
    if len(payload) > _MAX_BYTES:
        return [Note(NO_NOTES)]
    try:
        found = decode(payload)
    except WireError:
        return [Note(NO_NOTES)]
    if not isinstance(found, list) or not all(map(_is_note, found)):
        return [Note(NO_NOTES)]
    return [
        Note(shown(kind), shown(what), shown(target), shown(by), min(max(count, 1), _MAX_COUNT))
        for kind, what, target, by, count in found[:_MAX_NOTES]
    ]


def shown(text: str) -> str:
    """Return a student's text on one short line, with marks in place of what cannot be printed."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:_MAX_TEXT])


def _is_note(found: object) -> bool:
    if not isinstance(found, list) or len(found) != _FIELDS:
        return False
    return all(isinstance(text, str) for text in found[:_TEXTS]) and type(found[-1]) is int
