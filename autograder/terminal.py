"""Texts of other people, made fit to be shown in a terminal."""

from __future__ import annotations

import re

# What drives a terminal (C0, DEL, C1), ends a line, turns the order of letters
# around, or stands for a byte that is no text.
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_INSTEAD = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """
    Return a text as one line that a terminal shows and never obeys.

    Parameters
    ----------
    text : str
        Somebody's text: a name, a message, a path.

    Returns
    -------
    str
        The text, each control character replaced by U+FFFD.
    """
    return _NOT_SHOWN.sub(_INSTEAD, text)
