"""
Comments and feedback files: what they are called, and whether Canvas has them already.

Canvas has no key by which a repeated comment is refused. So before one is sent
it is looked for: a comment by its text, a file by its name, which holds a hash
of what is in it and whose it is. What counts is the newest of ours: an older one
that is right again stands above one that is wrong.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from autograder.lms.push.record import digest
from autograder.lms.push.wanted import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.lms.push.canvas.finding import Held
    from autograder.lms.push.model import Row

LONGEST_COMMENT = 65_535
"""Bytes of the longest text that Canvas stores as a comment."""


def has_text(held: Held, text: str, facts: Mapping[str, str]) -> bool:
    """
    Return whether a comment must not be sent.

    Parameters
    ----------
    held : Held
        What the student has in Canvas.
    text : str
        The comment.
    facts : mapping of str to str
        Our record of the student: what was sent last counts, whatever became of it in Canvas.

    Returns
    -------
    bool
        True if it is the newest comment of ours.
    """
    return facts.get("comment") == digest(text) or shows_text(held, text, facts)


def shows_text(held: Held, text: str, facts: Mapping[str, str]) -> bool:
    """
    Return whether Canvas shows a comment as the newest of ours.

    Parameters
    ----------
    held : Held
        What the student has in Canvas.
    text : str
        The comment.
    facts : mapping of str to str
        Our record of the student: by it comments are known as ours.

    Returns
    -------
    bool
        True if no other one of ours stands after it.
    """
    ours, wanted = set(facts.get("comments", "").split()), words_of(text, is_html=False)
    for one in reversed(held.comments):
        # It is shown as it was sent, or as HTML.
        for shown in (words_of(one.text, is_html=False), words_of(one.text)):
            if shown == wanted:
                return True
            if digest(shown) in ours:
                return False
    return False


def has_file(held: Held, name: str, facts: Mapping[str, str]) -> bool:
    """
    Return whether a feedback file must not be sent.

    Parameters
    ----------
    held : Held
        What the student has in Canvas.
    name : str
        As of `Feedback`.
    facts : mapping of str to str
        Our record of the student: what was sent last counts, whatever became of it in Canvas.

    Returns
    -------
    bool
        True if it is the newest file of ours.
    """
    return facts.get("file") == name or shows_file(held, name)


def shows_file(held: Held, name: str) -> bool:
    """
    Return whether Canvas shows a feedback file as the newest of ours.

    Parameters
    ----------
    held : Held
        What the student has in Canvas.
    name : str
        As of `Feedback`: by their names files are known as ours.

    Returns
    -------
    bool
        True if no other one for this assignment stands after it.
    """
    stem, suffix = PurePath(name).stem, re.escape(PurePath(name).suffix)
    front, _, content = stem.rpartition("_")
    # Canvas numbers files of one name: "x.html", "x-1.html".
    ours = re.compile(rf"{re.escape(front)}_([0-9a-f]+)(-\d+)?{suffix}")
    attached = (ours.fullmatch(file) for one in reversed(held.comments) for file in reversed(one.files))
    newest = next((found for found in attached if found), None)
    return newest is not None and newest[1] == content


def intended(row: Row, facts: Mapping[str, str]) -> dict[str, str]:
    """
    Return what is noted before a comment is sent, so that it is known as ours whatever comes between.

    Parameters
    ----------
    row : Row
        What is sent.
    facts : mapping of str to str
        Our record of the student.

    Returns
    -------
    dict of str to str
        What was sent last is not known until it is there.
    """
    noted = {"comment_id": ""}
    if row.comment:
        known = dict.fromkeys(facts.get("comments", "").split())
        known[digest(words_of(row.comment, is_html=False))] = None
        noted |= {"comment": "", "comments": " ".join(known)}
    return noted | ({"file": ""} if row.file is not None else {})
