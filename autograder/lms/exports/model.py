"""What an export is asked for, and what it says that the LMS will do."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from autograder.lms.model import Grade
    from autograder.lms.sheets import Sheet

WHOLE = ""
"""The key of the column of the whole score, where others are those of notebooks."""


class Action(StrEnum):
    """What the LMS will do with one cell."""

    APPLIED = "applied"
    UNCHANGED = "unchanged"
    """The LMS has this score already."""
    SKIPPED = "skipped"
    """Nothing of ours is sent; what the LMS has stays."""
    CLEARED = "cleared"
    """A score that the LMS has would go. No export does this unless it was asked to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    What the LMS will do with one student's score in one column.

    Parameters
    ----------
    student : str
        The student's id in this course; if the course does not know them, their name in the LMS.
    column : str
        The header, or what the LMS calls the item.
    action : Action
        What will happen.
    before, after : str
        The cell as it is in the instructor's file (empty if unknown or blank), and as it will be.
    reason : str
        Why, where it is not plain: one sentence.
    """

    student: str
    column: str
    action: Action
    before: str = ""
    after: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """
    What an export is asked for.

    Parameters
    ----------
    assignment : str
        The assignment's name in this course.
    title : str
        What the LMS calls it; by default the name.
    grades : tuple of Grade
        One for each student, sorted by id; the same notebooks in the same order in each.
    notebooks : tuple of str
        The assignment's notebooks, for a course without students; the grades count where there are some.
    like : Sheet or None
        The instructor's own export from the LMS. Its identity columns are copied as they are.
    columns : mapping of str to str
        Headers of columns that the instructor named, by notebook; `WHOLE` for the whole score.
    by_exercise : bool
        True for a column for each notebook, False for the whole score.
    missing_as_zero : bool
        True if the instructor wants a zero for work that was not handed in.
    comments : bool
        True to send each grade's comment where the format has a place for it.
    now : datetime
        The time of the export, aware.
    options : mapping of str to str
        What a format asks for beyond these, by name.
    """

    assignment: str
    title: str
    grades: tuple[Grade, ...]
    notebooks: tuple[str, ...] = ()
    like: Sheet | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    by_exercise: bool = False
    missing_as_zero: bool = False
    comments: bool = False
    now: datetime
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """
    A file to write.

    Parameters
    ----------
    name : str
        Its name, with folders below the export's folder separated by ``/``.
    data : bytes
        All of it.
    """

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """
    Files for an LMS and what it will do with them.

    Parameters
    ----------
    files : tuple of File
        At least one.
    changes : tuple of Change
        One for each student and column; those whom only the LMS knows included.
    notes : tuple of str
        What the instructor must know or choose in the LMS's dialog, a sentence each.
    is_empty : bool
        True if nothing is sent to anybody, so that there is nothing to upload.
    """

    files: tuple[File, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    is_empty: bool = False


class Format(Protocol):
    """A function that makes the files of one format."""

    def __call__(self, request: Request, /) -> Export:
        """
        Make the files; nothing is written.

        Parameters
        ----------
        request : Request
            What is asked for.

        Returns
        -------
        Export
            The files, and what the LMS will do.

        Raises
        ------
        CourseError
            If the instructor's file cannot be used, with row and column, or a column cannot be told.
        """
        ...
