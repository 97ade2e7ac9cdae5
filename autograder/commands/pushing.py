"""The command `push`: what goes to an LMS over the network is planned, sent and read back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from autograder.commands.gathering import Chosen, gather
from autograder.course.layout import Step
from autograder.course.lms_settings import lms_settings
from autograder.errors import CourseError
from autograder.lms.grades import WAITS, is_provisional
from autograder.lms.push.tokens import Secret, Source, read_token
from autograder.lms.push.wanted import Wanted
from autograder.publishing import publish_feedback
from autograder.terminal import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.course.course import Course
    from autograder.lms.push.model import Outcome, Plan

CANVAS, MOODLE = "canvas", "moodle"
VARIABLES = {CANVAS: "AUTOGRADER_CANVAS_TOKEN", MOODLE: "AUTOGRADER_MOODLE_TOKEN"}
"""The environment variables that may hold tokens."""

_PAGES = {
    CANVAS: re.compile(
        r"(?P<url>https?://[^/?#@]+)/courses/(?P<course>\d+)(?:/assignments/(?P<item>\d+))?(?:[/?#].*)?"
    ),
    MOODLE: re.compile(
        r"(?P<url>https?://[^?#@]+)/(?:course/view\.php\?id=(?P<course>\d+)"
        r"|mod/assign/view\.php\?id=(?P<cmid>\d+))(?:[&#].*)?"
    ),
}
"""Addresses of pages of a course and an assignment, as a browser shows them."""

_NAMED = 12
_SHOWN = {CANVAS: "Canvas", MOODLE: "Moodle"}


class Pusher(Protocol):
    """The way to one assignment in an LMS."""

    def plan(self, wanted: Wanted, /) -> Plan:
        """
        Compare what is wanted with what the LMS has; it only reads.

        Parameters
        ----------
        wanted : Wanted
            What is to be there.

        Returns
        -------
        Plan
            A row for each grade.
        """
        ...

    def send(self, plan: Plan, wanted: Wanted, /) -> Iterator[Outcome]:
        """
        Do what a plan says.

        Parameters
        ----------
        plan : Plan
            As `plan` returned it.
        wanted : Wanted
            What it was made of.

        Yields
        ------
        Outcome
            One for each row that was to be sent.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    Where a command line wants grades to go; empty where it says nothing.

    Parameters
    ----------
    url : str
        The LMS's address.
    course : str
        The course there.
    item : str
        The assignment there; by default it is called as here.
    token_file : Path or None
        A file with the token.
    """

    url: str = ""
    course: str = ""
    item: str = ""
    token_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    What a command line asks to be sent.

    Parameters
    ----------
    chosen : Chosen
        Which grades.
    comments, missing_as_zero, clear : bool
        As of `Wanted`.
    feedback : bool
        True to attach each student's feedback.
    """

    chosen: Chosen = field(default_factory=Chosen)
    comments: bool = False
    missing_as_zero: bool = False
    clear: bool = False
    feedback: bool = False


def wanted_of(course: Course, assignment: str, asked: Asked) -> Wanted:
    """
    Return what is to be in the LMS.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    asked : Asked
        What is asked for.

    Returns
    -------
    Wanted
        With the feedback of all who are graded, written anew, if it is to be sent.

    Raises
    ------
    AutograderError
        If the gradebook or graded notebooks cannot be read.
    """
    grades = gather(course, assignment, asked.chosen)
    pages = {}
    if asked.feedback:
        graded = set(course.layout.students_in(Step.AUTOGRADED, assignment))
        students = [grade.student for grade in grades if grade.student in graded]
        # Anew: a page from before somebody graded by hand would tell another score than is sent.
        pages = publish_feedback(course, assignment, students, jobs=course.settings().jobs)
    return Wanted(
        assignment=assignment,
        grades=grades,
        feedback=pages,
        comments=asked.comments,
        missing_as_zero=asked.missing_as_zero,
        clear=asked.clear,
        everybody=not asked.chosen.students,
    )


def with_provisional(plan: Plan, wanted: Wanted) -> Plan:
    """
    Return a plan that also tells whose scores are only what there is so far.

    Parameters
    ----------
    plan : Plan
        The plan.
    wanted : Wanted
        What it was made of.

    Returns
    -------
    Plan
        With a note more, if there is anybody.
    """
    sent = {row.student for row in plan.to_send}
    names = [one.student for one in wanted.grades if one.student in sent and is_provisional(one)]
    if not names:
        return plan
    note = f"Provisional, because {WAITS}: {some(names, _NAMED)}."
    return replace(plan, notes=(*plan.notes, note))


def to_canvas(course: Course, assignment: str, place: Place, *, told: Callable[[str], None]) -> Pusher:
    """
    Return the way to an assignment in Canvas.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment here.
    place : Place
        Where to, beside what the course's settings say.
    told : callable
        Is told, in a sentence, that and why we wait.

    Returns
    -------
    Pusher
        The way.

    Raises
    ------
    CourseError
        If it is not known where to.
    OperatorError
        If there is no token, or Canvas does not answer.
    """
    # Slow to import, and of use to who sends to Canvas only.
    from autograder.lms.push.canvas.pushing import CanvasPush, CanvasTarget  # noqa: PLC0415

    target = CanvasTarget(**_target(course, assignment, CANVAS, place))
    return CanvasPush(target, course.root, **_bounds(told))


def to_moodle(course: Course, assignment: str, place: Place, *, told: Callable[[str], None]) -> Pusher:
    """
    Return the way to an assignment in Moodle.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment here.
    place : Place
        Where to, beside what the course's settings say.
    told : callable
        As of `to_canvas`.

    Returns
    -------
    Pusher
        The way.

    Raises
    ------
    CourseError
        If it is not known where to.
    OperatorError
        If there is no token, or Moodle does not answer.
    """
    from autograder.lms.push.moodle.pushing import MoodlePush, MoodleTarget  # noqa: PLC0415 - as above

    target = MoodleTarget(**_target(course, assignment, MOODLE, place))
    return MoodlePush(target, course.root, **_bounds(told))


def _unfolded(place: Place, page: re.Pattern[str]) -> Place:
    """Return what the address of a page of a course tells: people copy it from their browser."""
    found = page.fullmatch(place.url.strip())
    if found is None:
        return place
    told = found.groupdict()
    item = told.get("item") or (f"cmid:{told['cmid']}" if told.get("cmid") else "")
    return replace(
        place, url=told["url"], course=place.course or told.get("course") or "", item=place.item or item
    )


def _bounds(told: Callable[[str], None]) -> dict[str, Any]:
    from autograder.lms.push import web  # noqa: PLC0415 - requests is slow to import, too

    return {"policy": replace(web.DEFAULT_POLICY, told=told), "clock": web.DEFAULT_CLOCK}


def _target(course: Course, assignment: str, lms: str, place: Place) -> dict[str, Any]:
    """Return what the targets of all LMSs are made of."""
    where = _place(course, lms, place)
    token = token_of(course, lms, place.token_file)
    return {"url": where.url, "course": where.course, "assignment": where.item or assignment, "token": token}


def _place(course: Course, lms: str, place: Place) -> Place:
    """Return a place whose address and course are known: from the options, the address, or the settings."""
    settings = lms_settings(course.config)
    place = replace(place, url=place.url or str(getattr(settings, f"{lms}_url")))
    place = _unfolded(place, _PAGES[lms])
    place = replace(place, course=place.course or str(getattr(settings, f"{lms}_course")))
    for name, value, what in (("url", place.url, "address of"), ("course", place.course, "course in")):
        if not value:
            remedy = f"Give --{name}, or set c.Autograder.{lms}_{name} in nbgrader_config.py."
            raise CourseError(f"push {lms}", f"the {what} {_SHOWN[lms]} is not known", remedy)
    return place


def token_of(course: Course, lms: str, named: Path | None = None) -> Secret:
    """
    Return the token with which grades are sent.

    Parameters
    ----------
    course : Course
        The course.
    lms : str
        `CANVAS` or `MOODLE`.
    named : Path, optional
        The file that the command line names.

    Returns
    -------
    Secret
        From the file that is named, the environment, or the file of the settings.

    Raises
    ------
    OperatorError
        If there is none, or others than its owner may read the file.
    """
    setting = f"{lms}_token_file"
    configured = str(getattr(lms_settings(course.config), setting))
    return read_token(
        Source(
            what=f"the token of {_SHOWN[lms]}",
            variable=VARIABLES[lms],
            option="--token-file",
            named=named,
            setting=f"c.Autograder.{setting}",
            configured=(course.root / Path(configured).expanduser()) if configured else None,
        )
    )
