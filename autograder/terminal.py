"""Texts of other people, made fit to be shown in a terminal, and lines that can be copied from one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

# What drives a terminal (C0, DEL, C1), ends a line, turns the order of letters
# around, cannot be seen, or stands for a byte that is no text. Two of those that
# cannot be seen are a part of the letters of some languages, and of emoji: they
# stay between two such letters.
_NOT_SHOWN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
    "|(?<![\u0300-\u1fff\u2190-\ud7ff\uf900-\ufefe\U0001f000-\U0001ffff])[\u200c\u200d]"
    "|[\u200c\u200d](?![\u0300-\u1fff\u2190-\ud7ff\uf900-\ufefe\U0001f000-\U0001ffff])"
)
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


def say(console: Console, line: str, style: str = "") -> None:
    """
    Print a line whole, so that what is copied from a terminal or a log can be used.

    Parameters
    ----------
    console : Console
        Where to.
    line : str
        Anybody's text.
    style : str
        Rich's name of a style.
    """
    from rich.text import Text  # noqa: PLC0415 - who only makes texts printable has no use for it

    console.print(Text(printable(line), style=style), soft_wrap=True)


def some(names: Sequence[str], count: int) -> str:
    """
    Return names in a row, the first ones only if there are many.

    Parameters
    ----------
    names : sequence of str
        The names.
    count : int
        How many are named.

    Returns
    -------
    str
        "ana, ben and 3 more".
    """
    more = len(names) - count
    return ", ".join(names[:count]) + (f" and {more} more" if more > 0 else "")


def short(text: str, letters: int) -> str:
    """
    Return a text that is no longer than it may be, cut in the middle: both of its ends tell.

    Parameters
    ----------
    text : str
        Anybody's text.
    letters : int
        How many it may have; at least three.

    Returns
    -------
    str
        "exercise…ipynb".
    """
    if len(text) <= letters:
        return text
    half = (letters - 1) // 2
    return f"{text[: letters - 1 - half]}…{text[-half:]}"


def by_reason(told: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """
    Return whom each reason concerns.

    Parameters
    ----------
    told : iterable of (str, str)
        A reason and a name, pair by pair.

    Returns
    -------
    dict of str to list of str
        Reasons and names in the order in which they came.
    """
    found: dict[str, list[str]] = {}
    for reason, name in told:
        found.setdefault(reason, []).append(name)
    return found


def short_path(path: Path) -> str:
    """Return a path as one would type it from here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
