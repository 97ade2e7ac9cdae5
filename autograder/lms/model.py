"""
What every LMS has, in words of none: people, and the grade that one gets for an assignment.

Adapters translate between this and the files and interfaces of one LMS, so that
no format knows another one, and none knows the gradebook.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from autograder.scores import CellScore

PLACES = 2
"""Decimals of a score in any file or message: the coarsest that an LMS compares by (Canvas, Moodle)."""
MOST_DIGITS = 15
"""Digits before the point of the largest number that anything here takes for one: no score has as many."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")


class Lms(StrEnum):
    """Where submissions and rosters come from and grades go to; the value is what a command line says."""

    CANVAS = "canvas"
    MOODLE = "moodle"
    BLACKBOARD = "blackboard"
    BRIGHTSPACE = "brightspace"
    SAKAI = "sakai"
    OPENEDX = "openedx"
    GRADESCOPE = "gradescope"
    NBGRADER = "nbgrader"
    PLAIN = "plain"

    @property
    def shown(self) -> str:
        """Its name as its makers write it."""
        return _SHOWN.get(self, str(self.value).capitalize())


_SHOWN = {Lms.OPENEDX: "Open edX", Lms.NBGRADER: "nbgrader", Lms.PLAIN: "a plain folder or list"}


class IdKind(StrEnum):
    """Kinds of ids by which an LMS knows a person."""

    USER = "user"
    """The number that the LMS itself gave: Canvas ``ID``, Open edX ``user_id``, Moodle's user id."""
    LOGIN = "login"
    """What they log in with: Canvas ``SIS Login ID``, ``Username``, Sakai's eid."""
    SIS = "sis"
    """What the registrar gave: ``SIS User ID``, ``ID number``, ``Student ID``, ``OrgDefinedId``, SID."""
    PARTICIPANT = "participant"
    """Moodle's number of a participant in one assignment; it means nothing in another one."""
    LTI = "lti"
    """What an LMS calls a person in LTI messages (``user_id``); Canvas's is another one than `USER`."""


SCHOOL_IDS = (IdKind.LOGIN, IdKind.SIS)
"""Ids that a school gives, and so means the same by, in all its programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """
    A student as an LMS names them.

    Parameters
    ----------
    lms : Lms
        Who says so.
    first_name, last_name : str
        As given; empty where the LMS has one name only or none.
    name : str
        The whole name as the LMS writes it, "Ruiz, Ana" or "Ana Ruiz"; may be empty.
    email : str
        As given; may be empty.
    ids : mapping of IdKind to str
        As given, byte for byte: leading zeros, dots and signs count.
    sections : tuple of str
        As given.
    line : int
        Row of the file, the header being 1; 0 if it is of no file.
    student : str
        The id in this course, the name of the folder; empty until it is known.
    submitted_at : datetime or None
        When they last handed in, naive, by the LMS's clock: Moodle's worksheet of an assignment says so.
    """

    lms: Lms
    first_name: str = ""
    last_name: str = ""
    name: str = ""
    email: str = ""
    ids: Mapping[IdKind, str] = field(default_factory=dict)
    sections: tuple[str, ...] = ()
    line: int = 0
    student: str = ""
    submitted_at: datetime | None = None

    @property
    def shown(self) -> str:
        """How a person would call them: the name, else the most telling id."""
        by_parts = " ".join(part for part in (self.first_name, self.last_name) if part)
        ids = (self.ids[kind] for kind in (*SCHOOL_IDS, IdKind.USER) if self.ids.get(kind))
        return self.name or by_parts or self.email or next(ids, "somebody without a name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """
    Who is in a course, from one file or one interface of an LMS.

    Parameters
    ----------
    lms : Lms
        Whose.
    where : str
        The file, or the address.
    people : tuple of Person
        In the order of the file. No two share an id of one kind.
    notes : tuple of str
        Rows that were left out and why, a sentence each.
    """

    lms: Lms
    where: str
    people: tuple[Person, ...]
    notes: tuple[str, ...] = ()


class GradeState(StrEnum):
    """What is known of a student's work. Only `GRADED` has a number."""

    GRADED = "graded"
    MISSING = "missing"
    """Nothing was handed in. It is no zero."""
    EXCUSED = "excused"
    """The student need not hand it in."""
    UNGRADED = "ungraded"
    """Handed in, but not graded, not wholly, or waiting for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """
    The grade of one exercise, that is of one notebook.

    Parameters
    ----------
    name : str
        The notebook.
    points : Decimal or None
        What it earned after its share of the penalty; None without a number.
    max_points : Decimal
        What it could earn.
    """

    name: str
    points: Decimal | None
    max_points: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """
    One student's grade in one assignment.

    Parameters
    ----------
    student : str
        The id in this course: the folder's name and the gradebook's key.
    people : tuple of Person
        The student as the LMSs know them, one for each LMS; may be empty.
    state : GradeState
        What is known.
    points : Decimal or None
        After the late penalty, rounded half up to `PLACES` decimals; None unless graded.
    max_points : Decimal
        Points of the assignment.
    parts : tuple of Part
        One for each notebook; their rounded points add up to `points`.
    reason : str
        Why there is no number, one sentence; empty if there is one.
    submitted_at : datetime or None
        Naive, in UTC.
    late_s : float
        Seconds after the due date and the student's extension.
    penalty : Decimal
        Points taken off for that.
    comment : str
        What goes to the student beside the grade, plain text; may be empty.
    cells : tuple of CellScore
        The score of each graded cell, before the penalty.
    first_name, last_name, email, lms_user_id : str
        From the gradebook; may be empty.
    """

    student: str
    people: tuple[Person, ...] = ()
    state: GradeState
    points: Decimal | None
    max_points: Decimal
    parts: tuple[Part, ...] = ()
    reason: str = ""
    submitted_at: datetime | None = None
    late_s: float = 0.0
    penalty: Decimal = Decimal(0)
    comment: str = ""
    cells: tuple[CellScore, ...] = ()
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """The whole name, from the gradebook; may be empty."""
        return " ".join(part for part in (self.first_name, self.last_name) if part)

    def person(self, lms: Lms) -> Person | None:
        """Return the student as one LMS knows them, or None."""
        return next((person for person in self.people if person.lms == lms), None)


def read_number(value: object) -> Decimal:
    """
    Return a number that a server or a file tells.

    Parameters
    ----------
    value : object
        As JSON has it, or as text: plain digits with a decimal point, spaces around it do not count.

    Returns
    -------
    Decimal
        Finite, with at most `MOST_DIGITS` digits before the point. A float is the number that it is
        written as.

    Raises
    ------
    ValueError
        If it is no such number. A truth value is none.
    """
    text = "" if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal) else str(value)
    number = Decimal(text) if _NUMBER.fullmatch(text := text.strip()) else None
    if number is None or number.adjusted() >= MOST_DIGITS:
        msg = f"{text[:40]!r} is no number"
        raise ValueError(msg)
    return number


def rounded(points: Decimal) -> Decimal:
    """
    Return points with `PLACES` decimals, half up.

    Parameters
    ----------
    points : Decimal
        Any finite number with at most `MOST_DIGITS` digits before the point.

    Returns
    -------
    Decimal
        Never a negative zero.

    Raises
    ------
    ValueError
        If it is none: no LMS may be sent a NaN.
    """
    if not points.is_finite() or points.adjusted() >= MOST_DIGITS:
        msg = f"{points} is no score"
        raise ValueError(msg)
    return points.quantize(Decimal(1).scaleb(-PLACES), ROUND_HALF_UP) + Decimal(0)


def points_text(points: Decimal, *, places: int | None = None) -> str:
    """
    Return points as text with a decimal point and neither exponent nor thousands separator.

    Parameters
    ----------
    points : Decimal
        A number that `rounded` takes; it is rounded as that does.
    places : int, optional
        Decimals to show always. By default as few as the number needs.

    Returns
    -------
    str
        "9.5", "10", "0"; with two places "9.50".
    """
    text = f"{rounded(points):.{PLACES if places is None else places}f}"
    return text.rstrip("0").rstrip(".") if places is None else text
