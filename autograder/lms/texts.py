"""Texts of people, made fit to be stored by other programs and by disks."""

from __future__ import annotations

import re
import unicodedata

# Files can hold these, databases cannot store them: NUL and its like, and halves of characters.
_NOT_STORED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def storable(text: str) -> str:
    """
    Return a text that any program can store.

    Parameters
    ----------
    text : str
        Somebody's text.

    Returns
    -------
    str
        Characters that control something, and halves of characters, become U+FFFD;
        tabs and ends of lines stay.
    """
    return _NOT_STORED.sub("\N{REPLACEMENT CHARACTER}", text)


def same_on_disk(name: str) -> str:
    """Return what two names or paths share that some disk takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
