"""What a download holds: entries with safe names, and attempts of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from autograder.lms.model import Lms, Person
    from autograder.lms.people import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    A file of a download.

    Parameters
    ----------
    name : str
        Its path: parts separated by ``/``, each a name that may be written to a disk.
    size : int
        Bytes, as promised; reading never gives more.
    modified : datetime or None
        Naive, in the zone of whoever made the archive.
    """

    name: str
    size: int
    modified: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """
    Something of a download that was left out, or needs a look.

    Parameters
    ----------
    name : str
        The entry, student or submission.
    reason : str
        Why, and what to do: one or two sentences.
    harmless : bool
        True if nobody need act: an index page, ``.DS_Store``.
    """

    name: str
    reason: str
    harmless: bool = False


class Archive(Protocol):
    """A zip or a folder, opened; nothing of it is on the disk yet."""

    where: str
    """The file or folder."""
    entries: tuple[Entry, ...]
    """Everything that may be taken, sorted by name; no two names differ by case alone."""
    left: tuple[Left, ...]
    """What was refused: paths that lead out, links, bombs, doubles."""

    def read(self, entry: Entry, limit_bytes: int | None = None) -> bytes:
        """
        Return what is in an entry.

        Parameters
        ----------
        entry : Entry
            One of `entries`.
        limit_bytes : int, optional
            Read no more than this many bytes from its beginning.

        Returns
        -------
        bytes
            At most `Entry.size`.

        Raises
        ------
        SubmissionError
            If it is damaged.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    What one student handed in at one time.

    Parameters
    ----------
    key : str
        What the LMS calls it, to be given back with feedback: the folder, or the part of
        the file names that is the LMS's own.
    person : Person or None
        Whose it is; None if nobody can tell.
    problem : str
        Why nobody can tell or it cannot be taken, and what to do; empty if it can.
    files : tuple of (str, Entry)
        Each file's path in the submission's folder, and where it is in the download.
    submitted_at : datetime or None
        Naive, in UTC; None if the download does not say.
    late : bool or None
        True if the LMS says that it is late; None if it says nothing.
    named : str
        Whose it is in the words of the download, to be shown.
    number : int
        A number of the LMS's that is larger for a later attempt of a student's, where there is
        no time: Canvas's of an attachment. 0 if there is none.
    same_name : int
        How many attempts of the download are the student's by their name alone, which somebody
        else may have taken; 0 if an id tells.
    """

    key: str
    person: Person | None
    problem: str = ""
    files: tuple[tuple[str, Entry], ...] = ()
    submitted_at: datetime | None = None
    late: bool | None = None
    named: str = ""
    number: int = 0
    same_name: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """
    A download, understood.

    Parameters
    ----------
    lms : Lms
        Whose.
    attempts : tuple of Attempt
        All of them, earlier ones included.
    left : tuple of Left
        Entries that belong to no attempt.
    notes : tuple of str
        What somebody should look at though it is taken, and why: a sentence each.
    """

    lms: Lms
    attempts: tuple[Attempt, ...]
    left: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """
    What a reader of downloads may use to understand one.

    Parameters
    ----------
    people : People
        Everybody who may have handed in.
    notebooks : tuple of str
        Names of the assignment's notebooks, without suffix.
    assignment : str
        The assignment's name in this course.
    zone : tzinfo
        The zone of times that the download writes without one.
    """

    people: People
    notebooks: tuple[str, ...]
    assignment: str
    zone: tzinfo


class Reader(Protocol):
    """A module of this package: it knows how one LMS names what it hands out."""

    def fits(self, archive: Archive) -> float:
        """
        Return how sure it is that a download is of its LMS.

        Parameters
        ----------
        archive : Archive
            The download; `recognise` shows one entry for each part that a student has.

        Returns
        -------
        float
            The share of the entries that have its names, 0 to 1.
        """
        ...

    def read(self, archive: Archive, context: Context) -> Download:
        """
        Understand a download.

        Parameters
        ----------
        archive : Archive
            The download.
        context : Context
            Who may have handed in, and what.

        Returns
        -------
        Download
            Every entry is in an attempt or left.
        """
        ...
