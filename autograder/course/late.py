"""
What late work loses: nothing, everything, or what the course's own nbgrader plug-in says.

nbgrader asks a plug-in for each notebook that was handed in late, and takes
off what it answers, at least nothing and at most the notebook's points. The
same is done here. nbgrader, which takes seconds to import, is needed only
where a course has a plug-in of its own.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Protocol

from autograder.course.configuration import CONFIG_FILE, importable
from autograder.errors import ConfigError, CourseError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from traitlets.config import Config

    from autograder.course.course import Course
    from autograder.course.settings import Settings


class Penalty(Protocol):
    """Says what one notebook that was handed in late loses."""

    def __call__(self, student: str, score: float, seconds_late: float, /) -> float | None:
        """
        Return the points to take off.

        Parameters
        ----------
        student : str
            The student's id.
        score : float
            The notebook's points.
        seconds_late : float
            How late it was, in seconds, more than 0.

        Returns
        -------
        float or None
            Points; None for none.
        """


def no_penalty(_student: str, _score: float, _seconds_late: float, /) -> float | None:
    """Take nothing off."""
    return None


def all_points(_student: str, score: float, _seconds_late: float, /) -> float | None:
    """Take everything off."""
    return score


METHODS: Mapping[str, Penalty] = {"none": no_penalty, "zero": all_points}
"""What ``LateSubmissionPlugin.penalty_method`` may be."""


def penalty_of(penalty: Penalty, student: str, score: float, seconds_late: float) -> float | None:
    """
    Return the points that a notebook loses, as nbgrader stores them.

    Parameters
    ----------
    penalty : Penalty
        The course's.
    student : str
        The student's id.
    score : float
        The notebook's points.
    seconds_late : float
        How late it was, in seconds; 0 if it was in time.

    Returns
    -------
    float or None
        Inside [0, score]; None if nothing is to be taken off.

    Raises
    ------
    CourseError
        If the course's plug-in fails, or does not answer with a number.
    """
    points = penalty(student, score, seconds_late) if seconds_late > 0 else None
    return None if points is None else min(max(points, 0.0), max(score, 0.0))


def course_penalty(course: Course, settings: Settings) -> Penalty:
    """
    Return what late work loses in a course.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        Its settings.

    Returns
    -------
    Penalty
        One of `METHODS`, or the course's plug-in.

    Raises
    ------
    ConfigError
        If the plug-in cannot be imported or made.
    """
    name = settings.late_penalty
    return METHODS[name] if name in METHODS else _Plugin(name, course.config, course.root)


class _Plugin:
    """A course's own plug-in, asked as nbgrader's AssignLatePenalties asks it."""

    def __init__(self, name: str, config: Config, root: Path) -> None:
        self._name = name
        self._root = root
        try:
            with importable(root), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # It takes seconds.
                from nbgrader.preprocessors import AssignLatePenalties  # noqa: PLC0415

                step = AssignLatePenalties(config=config)
                step.init_plugin()
        except (Exception, SystemExit) as problem:
            what = f"AssignLatePenalties.plugin_class {name!r} cannot be used ({_told(problem)})"
            remedy = "Name a subclass of nbgrader.plugins.BasePlugin that can be imported."
            raise ConfigError(CONFIG_FILE, what, remedy) from problem
        self._plugin: Any = step.plugin_inst

    def __call__(self, student: str, score: float, seconds_late: float, /) -> float | None:
        remedy = "Repair the plug-in and grade again; nothing was stored."
        try:
            with importable(self._root):
                answer = self._plugin.late_submission_penalty(student, score, seconds_late)
        except (Exception, SystemExit) as problem:
            what = f"cannot tell what {student} loses ({_told(problem)})"
            raise CourseError(f"late-penalty plug-in {self._name}", what, remedy) from problem
        if answer is None:
            return None
        try:
            points = math.nan if isinstance(answer, str) else float(answer)
        except (TypeError, ValueError):
            points = math.nan
        if math.isnan(points):
            what = f"answers {str(answer)[:40]!r} for {student}, which is no number"
            raise CourseError(f"late-penalty plug-in {self._name}", what, remedy)
        return points


def _told(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {' '.join(str(problem).split())}".rstrip(": .")
