"""Feedback pages to be sent: what an LMS is to call them, and what is in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.lms.push.record import digest

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE = 50 * 2**20
"""Bytes of the largest feedback file that is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """
    A feedback file, read.

    Parameters
    ----------
    name : str
        What the LMS is to call it: it holds a hash of the student and the content, so that
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
        Whose it is: the id in the LMS.

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
