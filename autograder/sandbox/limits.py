"""What student code may use, each limit with its unit in its name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from autograder.course.settings import Autograder

if TYPE_CHECKING:
    from autograder.course.settings import Settings
    from autograder.sandbox.forged import Forged


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    The limits of one notebook's process.

    Parameters
    ----------
    wall_time_s : float
        Time in seconds for one cell, and for one call of a check. Past it the
        cell or the check is stopped and the rest goes on.
    notebook_time_s : float
        Time in seconds for a whole notebook with all its checks. Past it no
        further cell or check is run.
    cpu_time_s : int
        Processor time in seconds of one process, all threads together. Past
        it the process is killed.
    memory_mib : int
        Address space in MiB. Past it Python raises MemoryError.
    output_kib : int
        What one cell may show, in KiB of text and pictures. The rest is cut.
    file_mib : int
        Size in MiB of the largest file that may be written.
    """

    wall_time_s: float = float(Autograder.wall_time_s.default_value)
    notebook_time_s: float = float(Autograder.notebook_time_s.default_value)
    cpu_time_s: int = int(Autograder.cpu_time_s.default_value)
    memory_mib: int = int(Autograder.memory_mib.default_value)
    output_kib: int = int(Autograder.output_kib.default_value)
    file_mib: int = int(Autograder.file_mib.default_value)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that a course's settings name."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})


class LimitReached(Exception):  # noqa: N818 - an outcome of student code, not an error of ours
    """
    A limit stopped the student's code.

    Parameters
    ----------
    name : str
        The limit, as in `Limits`.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class WorkerDied(Exception):  # noqa: N818 - an outcome of student code, not an error of ours
    """
    The student's code ended or broke its own process.

    Parameters
    ----------
    cause : str
        How: a signal's name, "exit" or "protocol".
    forged : Forged, optional
        What was seen on the connection that no worker sends by itself.
    """

    def __init__(self, cause: str, forged: Forged | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.forged = forged
