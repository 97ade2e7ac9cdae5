"""Feedback on its way back: what there is to give, and what becomes of it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from autograder.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from autograder.lms.collecting.record import Collected
    from autograder.lms.downloads.model import Left
    from autograder.lms.zipping import Packed

_NO_NAME = re.compile(r'[\\/:*?"<>|\s]+')
_NAME_LENGTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """
    A student's feedback pages; each is one file that loads nothing.

    Parameters
    ----------
    student : str
        The id in this course.
    whole : Path
        The page with all of it.
    parts : mapping of str to Path
        The page on each notebook.
    names : tuple of str
        How the student's whole name is written, as far as the gradebook has it.
    """

    student: str
    whole: Path
    parts: Mapping[str, Path] = field(default_factory=dict)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """
    What is to be given back, and what it is given back for.

    Parameters
    ----------
    assignment : str
        The assignment.
    collected : sequence of Collected
        What was collected from this LMS, of each student for whom there is feedback; sorted by student.
    feedback : mapping of str to Feedback
        By student.
    index : bytes or None
        The page that lists the folders in the download, where an LMS wants it back.
    """

    assignment: str
    collected: Sequence[Collected]
    feedback: Mapping[str, Feedback]
    index: bytes | None = None

    @property
    def file_name(self) -> str:
        """What a student's page is called."""
        return f"{plain(self.assignment)}_feedback.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """
    A page that the LMS will give to a student.

    Parameters
    ----------
    student : str
        Whose.
    entry : str
        Its name in the archive.
    shown : str
        What the LMS calls it before the student.
    """

    student: str
    entry: str
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """
    An archive for an LMS, and what it will do with it.

    Parameters
    ----------
    files : tuple of Packed
        What is in it.
    given : tuple of Given
        The pages that reach their student.
    left : tuple of Left
        The students who are left out, by id, and why.
    notes : tuple of str
        What to know and to choose in the LMS, a sentence each.
    """

    files: tuple[Packed, ...]
    given: tuple[Given, ...]
    left: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()


class Packer(Protocol):
    """A function that packs feedback for one LMS."""

    def __call__(self, work: Work, /) -> Returned:
        """
        Pack feedback; nothing is written.

        Parameters
        ----------
        work : Work
            What is to be given back.

        Returns
        -------
        Returned
            Every student of the work is given a page, or left.

        Raises
        ------
        OperatorError
            If a page cannot be read.
        """
        ...


def plain(name: str) -> str:
    """
    Return a name that every system takes for a file's, and no LMS for one of its own.

    Parameters
    ----------
    name : str
        Anything.

    Returns
    -------
    str
        Letters, digits and what is harmless between them; "page" if nothing is left.
    """
    shown = "".join(one for one in unicodedata.normalize("NFC", name) if unicodedata.category(one)[0] != "C")
    return _NO_NAME.sub("-", shown).strip("-. ~")[:_NAME_LENGTH] or "page"


def is_their_own(page: Path, collected: Collected) -> bool:
    """
    Tell whether a page is, byte for byte, a file that the student has handed in.

    Parameters
    ----------
    page : Path
        A feedback page.
    collected : Collected
        What was handed in.

    Returns
    -------
    bool
        An LMS that skips what it has already would skip it.

    Raises
    ------
    OperatorError
        If it cannot be read.
    """
    try:
        digest = hashlib.sha256(page.read_bytes()).hexdigest()
    except OSError as error:
        raise OperatorError(page, f"cannot be read ({error.strerror})", "Check its rights.") from None
    return any(file.sha256 == digest for file in collected.files)


def shared(collected: Iterable[Collected]) -> set[str]:
    """Return the keys of attempts that several students have: those of groups."""
    seen: set[str] = set()
    twice: set[str] = set()
    for one in collected:
        (twice if one.key in seen else seen).add(one.key)
    return twice
