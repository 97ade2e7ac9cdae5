"""
What can go wrong, by whose turn it is to act.

A student's mistake is an outcome (`autograder.results.Outcome`), never an
exception, and an operator's failure is never a score.

AutograderError
├── CourseError            the instructor: the course folder, an assignment or a path is wrong
│   ├── NotebookError      an instructor notebook cannot be used
│   ├── ConfigError        a setting is unknown or has a wrong value
│   ├── ReleaseError       the release is not built, or older than its source
│   └── CheckError         a hidden check is missing, broken or has wrong points
├── SubmissionError        the course staff: one submission cannot be graded as it is
└── OperatorError          the operator: the machine, not the student, failed
    ├── SandboxError       student code could not be run
    ├── ServerError        an LMS could not be reached, or did not do what it was asked
    │   ├── RefusedError       it understood, and refused
    │   └── UncertainError     it did not say whether it did it
    └── GradebookError     the grades could not be read or stored
        └── GradebookLockedError   another program holds on to them for too long
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class AutograderError(Exception):
    """
    Anything the kit refuses to do, with what is wrong and what to do.

    Parameters
    ----------
    where : str
        The file, folder, setting or command at fault.
    what : str
        What is wrong with it, one sentence without a full stop.
    remedy : str
        What to do about it, one sentence.
    """

    def __init__(self, where: object, what: str, remedy: str) -> None:
        super().__init__(where, what, remedy)
        self.where = str(where)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the one-line message: where, what, what to do."""
        return f"{self.where}: {self.what}. {self.remedy}"


class CourseError(AutograderError):
    """The course folder, an assignment's name or a path in it is wrong."""


class NotebookError(CourseError):
    """A notebook of the instructor's cannot be used."""


class ConfigError(CourseError):
    """A setting is unknown or has a value that cannot be used."""


class ReleaseError(CourseError):
    """The release of an assignment is not built, or older than its source."""


class CheckError(CourseError):
    """A hidden check is missing, broken, or its points do not add up."""


class SubmissionError(AutograderError):
    """One submission cannot be graded as it is; others can."""


class OperatorError(AutograderError):
    """The machine failed, not the student; nothing is scored."""


class SandboxError(OperatorError):
    """Student code could not be run."""


class ServerError(OperatorError):
    """The server of an LMS could not be reached, refused, or answered what nobody can use."""


class RefusedError(ServerError):
    """A server understood what it was asked, and refused; `what` says why."""


class UncertainError(ServerError):
    """A server did not say whether it did what it was asked; asking again could do it twice."""


class GradebookError(OperatorError):
    """The grades could not be read or stored."""


class GradebookLockedError(GradebookError):
    """Another program holds on to the gradebook for too long; trying again may help."""


def nearest(name: str, known: Iterable[str]) -> str:
    """
    Return a remedy that offers the known name nearest to a mistyped one.

    Parameters
    ----------
    name : str
        What was asked for.
    known : iterable of str
        The names that exist.

    Returns
    -------
    str
        A sentence: the nearest name, else the list of those there are.
    """
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    if known:
        return f"There are: {', '.join(known)}."
    return "There are none."
