"""
Comments and feedback files: what they are called, and whether Canvas has them already.

Canvas has no key by which a repeated comment is refused. So before one is sent
it is looked for: a comment by its text, a file by its name, which holds a hash
of what is in it and whose it is.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.lms.push.record import digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from autograder.lms.push.canvas.finding import Held

LONGEST_COMMENT = 65_535
"""Bytes of the longest text that Canvas stores as a comment."""
LARGEST_FILE = 50 * 2**20
"""Bytes of the largest feedback file that is sent."""

_TAG = re.compile(r"<[^<>]*>")


def _folded(text: str) -> str:
    """Return what is left of a text that Canvas may have stored as HTML, or in other lines."""
    return " ".join(_TAG.sub(" ", html.unescape(text)).split())


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
    return known or any(_folded(one.text) == _folded(text) for one in held.comments)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """
    A feedback file, read.

    Parameters
    ----------
    name : str
        What Canvas is to call it: it holds a hash of the student and the content, so that
        neither two students' nor two versions are mixed up.
    data : bytes
        All of it.
    """

    name: str
    data: bytes


def read_feedback(path: Path, assignment: str, key: str) -> Feedback:
    """
    Read a feedback file.

    Parameters
    ----------
    path : Path
        The file.
    assignment : str
        The assignment's name in this course.
    key : str
        Whose it is: Canvas's number.

    Returns
    -------
    Feedback
        Name and content.

    Raises
    ------
    SubmissionError
        If it is no plain file, cannot be read, or is too large.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise SubmissionError(path, "is no plain file", "Run `autograder feedback` again.")
        if path.stat().st_size > LARGEST_FILE:
            raise SubmissionError(path, f"is larger than {LARGEST_FILE // 2**20} MiB", "Make it smaller.")
        data = path.read_bytes()
    except OSError as error:
        raise SubmissionError(path, f"cannot be read ({error.strerror})", "Check its rights.") from None
    safe = re.sub(r"[^A-Za-z0-9.-]+", "-", assignment).strip("-.")[:60] or "assignment"
    suffix = path.suffix if re.fullmatch(r"\.[a-z0-9]{1,8}", path.suffix) else ".html"
    return Feedback(name=f"feedback_{safe}_{digest(key.encode() + data)[:12]}{suffix}", data=data)
