"""
Canvas: *Upload Submissions* takes back what *Download Submissions* gave, by the numbers in the names.

Of a name Canvas reads two numbers only: those of the student and of the file
that was handed in. Where a student's name would be taken for one of them, the
name is written without what misleads, and the numbers stay.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from autograder.lms.downloads.model import Left
from autograder.lms.model import IdKind
from autograder.lms.returns.model import Given, Returned
from autograder.lms.zipping import Packed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autograder.lms.collecting.record import Collected
    from autograder.lms.returns.model import Feedback, Work

NO_UPLOAD = (
    "A text or a link was handed in and no file, so Canvas has nothing to attach feedback to. "
    "Give it in SpeedGrader, or with `autograder push canvas`."
)
NO_NUMBER = (
    "It is not known which file in Canvas was handed in. "
    "Collect the download as Canvas has sent it, with a roster of Canvas."
)

_LATE, _ANONYMOUS, _NOBODY = "LATE", "anon", "student"
_FILE = re.compile(r"(?P<attachment>\d+)_(?P<display>.+)", re.DOTALL)


def numbers_read(name: str) -> tuple[str, str] | None:
    """
    Return the numbers that Canvas reads in a name.

    Parameters
    ----------
    name : str
        The name of a file in the archive, without folders.

    Returns
    -------
    tuple of (str, str) or None
        Those of the student and of the file; None if it finds none.
    """
    tokens = [token for token in name.split("_") if token != _LATE]
    if tokens[0] == _ANONYMOUS:
        return None
    numbers = [token for token in tokens if token.isascii() and token.isdigit()]
    return (numbers[0], numbers[1]) if len(numbers) > 1 else None


def pack(work: Work) -> Returned:
    """
    Pack feedback for Canvas.

    Parameters
    ----------
    work : Work
        What is to be given back.

    Returns
    -------
    Returned
        Each page under the name of a file that was handed in: that of its notebook
        where each notebook was handed in by itself, else all of it under the first.
    """
    files: list[Packed] = []
    given: list[Given] = []
    left: list[Left] = []
    for one in work.collected:
        uploads = dict(_uploads(one))
        if not uploads:
            is_text = any(name.endswith(("_text.html", "_link.html")) for name in one.entries)
            left.append(Left(name=one.student, reason=NO_UPLOAD if is_text else NO_NUMBER))
            continue
        for entry, page in _pages(one, work.feedback[one.student], list(uploads)):
            attachment, display = uploads[entry]
            name = _name(entry, one.ids[IdKind.USER], attachment, display)
            files.append(Packed(name=name, data=page))
            given.append(Given(student=one.student, entry=name, shown=display))
    return Returned(files=tuple(files), given=tuple(given), left=tuple(left), notes=_NOTES)


_NOTES = (
    "In Canvas: open the assignment, choose Upload Submissions, and name this file.",
    "Canvas shows a page under the name of the file that was handed in: students save it with the end .html.",
    "`autograder push canvas` sends pages under names of their own.",
    "Who has handed in again since gets nothing: Canvas lists such a page among the ignored files.",
    "In a group assignment the whole group sees the page.",
)


def _uploads(one: Collected) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the entries that were uploads, with Canvas's number of the file and its name there."""
    user = one.ids.get(IdKind.USER, "")
    if not (user.isascii() and user.isdigit() and one.key.endswith(f"_{user}")):
        return
    for entry in one.entries:
        name = PurePosixPath(entry).name
        match = _FILE.fullmatch(name.removeprefix(f"{one.key}_"))
        if name.startswith(f"{one.key}_") and match:
            yield entry, (match["attachment"], match["display"])


def _pages(one: Collected, feedback: Feedback, entries: list[str]) -> list[tuple[str, Path]]:
    """Return which page goes back for which entry."""
    books = {file.entry: file.path.removesuffix(".ipynb") for file in one.files if not file.inner}
    parts = [(entry, feedback.parts[books[entry]]) for entry in entries if books.get(entry) in feedback.parts]
    if parts and len(parts) == len(feedback.parts):
        return parts
    return [(entries[0], feedback.whole)]


def _name(entry: str, user: str, attachment: str, display: str) -> str:
    """Return the name that Canvas gave, or one in which it reads the same numbers as it meant."""
    name = PurePosixPath(entry).name
    if numbers_read(name) == (user, attachment):
        return name
    letters = "".join(one for one in name.removesuffix(f"_{user}_{attachment}_{display}") if one.isalpha())
    front = _NOBODY if letters in {"", _ANONYMOUS, _LATE} else letters
    return f"{front}_{user}_{attachment}_{display}"
