"""Where the JSON of a notebook broke, and what a person can do about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.reading.encoding import line_after
from autograder.reading.foreign import HEAD_BYTES, no_json
from autograder.reading.unreadable import RESTORE, Unreadable

if TYPE_CHECKING:
    import json
    from collections.abc import Iterable, Iterator

_MARK = re.compile(rb"[\r\n](?:<{7}|>{7})[ \r\n]")
_MARK_BYTES = 9
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_NUMBER_PART = re.compile(r"[-+.eE]+")
_MAX_TAIL = 12
_MAX_BLANKS = 1000
_OPEN = "Mend it in a text editor until Jupyter opens it, or hand in another copy."


def watched(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """
    Pass on a notebook's text, but not what no notebook's text holds anywhere, outputs included.

    Parameters
    ----------
    pieces : iterable of bytes
        The text as UTF-8.

    Yields
    ------
    bytes
        The pieces as they are.

    Raises
    ------
    Unreadable
        If there is a NUL byte, or a mark of a merge conflict: both mean that
        there is more, or less, than one notebook.
    """
    # A mark may be the first thing in the file.
    done, lines, tail = 0, 0, b"\n"
    for piece in pieces:
        if (at := piece.find(b"\0")) >= 0:
            raise _nul(done + at, lines + _lines(piece, at) + 1)
        both = tail + piece
        if (b"<<<<<<<" in both or b">>>>>>>" in both) and (mark := _MARK.search(both)):
            raise _conflict(lines - _lines(tail, len(tail)) + _lines(both, mark.start() + 1) + 1)
        tail = both[-_MARK_BYTES:]
        done += len(piece)
        lines += _lines(piece, len(piece))
        yield piece


def broken(text: str, problem: json.JSONDecodeError, *, cells: int, dropped_lines: int | None) -> Unreadable:
    """
    Return where and how a text stops being JSON.

    Parameters
    ----------
    text : str
        The text, outputs possibly cut out.
    problem : JSONDecodeError
        What JSON's reader said.
    cells : int
        How many cells stand before that place.
    dropped_lines : int or None
        How many lines were cut out before that place; None if nothing was.

    Returns
    -------
    Unreadable
        In plain words, with the line.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return no_json(text[:HEAD_BYTES])
    line = line_after(text[: problem.pos]) + (dropped_lines or 0)
    if _is_cut_off(text, problem):
        line = line_after(text) + (dropped_lines or 0)
        seen = f"{cells} whole cell{'s' * (cells != 1)} before it"
        return Unreadable(f"breaks off in line {line}: the rest of it is missing ({seen})", RESTORE)
    if problem.msg == "Extra data":
        what = f"goes on in line {line} where the notebook has already ended"
        return Unreadable(what, "Delete what follows its end with a text editor, or hand in another copy.")
    place = f"line {line}, column {problem.colno}" if dropped_lines is None else f"line {line}"
    return Unreadable(f"is damaged in {place}: {_said(problem)}", _OPEN)


def comma_too_many(text: str, problem: json.JSONDecodeError) -> int | None:
    """
    Return the place of a comma that JSON's reader stopped at because nothing follows it.

    Parameters
    ----------
    text : str
        The text.
    problem : JSONDecodeError
        What JSON's reader said.

    Returns
    -------
    int or None
        Of the second comma in ``[1, 2,]``, which can be read in one way only;
        None if something else is wrong.
    """
    # Newer readers stop at the comma itself, older ones behind it.
    at = problem.pos if text[problem.pos : problem.pos + 1] == "," else problem.pos - 1
    before = text[max(0, at + 1 - _MAX_BLANKS) : at + 1].rstrip()
    if not before.endswith(",") or not re.compile(r"\s*[\]}]").match(text, at + 1):
        return None
    # A comma before which nothing stands either stood between what is lost.
    return None if before[:-1].rstrip().endswith(("[", "{", ",", ":")) else text.rindex(",", 0, at + 1)


def _is_cut_off(text: str, problem: json.JSONDecodeError) -> bool:
    """Tell whether the text is the beginning of some JSON."""
    # A last character that is cut off itself was read as U+FFFD.
    rest = text[problem.pos :].strip().removesuffix("\ufffd")
    if not rest or problem.msg.startswith("Unterminated string"):
        return True
    if len(rest) > _MAX_TAIL:
        return False
    if problem.msg.startswith("Invalid \\"):
        return '"' not in rest
    return any(word.startswith(rest) for word in _WORDS) or _NUMBER_PART.fullmatch(rest) is not None


def _said(problem: json.JSONDecodeError) -> str:
    """Return what JSON's reader said, without its words for programs."""
    if problem.msg.startswith("Invalid control character"):
        return "a text in quotes is not closed, or holds a line end"
    if problem.msg.startswith("Invalid \\"):
        return "a backslash stands before what it cannot stand before"
    if "delimiter" in problem.msg:
        return f"there should be a {problem.msg.split()[1]}"
    if "property name" in problem.msg:
        return "there should be a name in quotes"
    return "there should be a value"


def _lines(piece: bytes, end: int) -> int:
    return piece.count(b"\n", 0, end) or piece.count(b"\r", 0, end)


def _nul(place: int, line: int) -> Unreadable:
    what = f"holds NUL bytes from byte {place} (line {line}) on: a part was never written, as after a crash"
    return Unreadable(what, RESTORE)


def _conflict(line: int) -> Unreadable:
    return Unreadable(
        f"holds the marks of a git merge conflict (<<<<<<<, =======, >>>>>>>), the first in line {line}",
        "Keep one of the two versions between the marks, delete the marks, and see that Jupyter opens it.",
    )
