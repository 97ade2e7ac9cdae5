"""
Comments and feedback files: what they are called, and whether Canvas has them already.

Canvas has no key by which a repeated comment is refused. So before one is sent
it is looked for: a comment by its text, a file by its name, which holds a hash
of what is in it and whose it is.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from autograder.lms.push.record import digest
from autograder.lms.push.wanted import folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.lms.push.canvas.finding import Held

LONGEST_COMMENT = 65_535
"""Bytes of the longest text that Canvas stores as a comment."""


def has_text(held: Held, text: str, facts: Mapping[str, str]) -> bool:
    """
    Return whether Canvas has a comment.

    Parameters
    ----------
    held : Held
        What the student has in Canvas.
    text : str
        The comment.
    facts : mapping of str to str
        Our record of the student: what was sent counts, whatever became of it in Canvas.

    Returns
    -------
    bool
        True if it must not be sent.
    """
    known = facts.get("comment") == digest(text)
    return known or any(folded(one.text) == folded(text) for one in held.comments)


def has_file(held: Held, name: str, facts: Mapping[str, str]) -> bool:
    """
    Return whether Canvas has a feedback file.

    Parameters
    ----------
    held : Held
        What the student has in Canvas.
    name : str
        As of `Feedback`.
    facts : mapping of str to str
        Our record of the student.

    Returns
    -------
    bool
        True if it must not be sent.
    """
    # Canvas numbers files of one name: "x.html", "x-1.html".
    stem, suffix = re.escape(PurePath(name).stem), re.escape(PurePath(name).suffix)
    pattern = re.compile(rf"{stem}(-\d+)?{suffix}")
    attached = (file for comment in held.comments for file in comment.files)
    return facts.get("file") == name or any(pattern.fullmatch(file) for file in attached)
