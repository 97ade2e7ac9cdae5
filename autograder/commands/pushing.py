"""The command `push`: what goes to an LMS over the network is planned, sent and read back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from autograder.commands.gathering import Chosen, gather
from autograder.course.lms_settings import lms_settings
from autograder.errors import CourseError
from autograder.lms.push.tokens import Secret, Source, read_token
from autograder.lms.push.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.course.course import Course
    from autograder.lms.push.model import Outcome, Plan

CANVAS, MOODLE = "canvas", "moodle"
VARIABLES = {CANVAS: "AUTOGRADER_CANVAS_TOKEN", MOODLE: "AUTOGRADER_MOODLE_TOKEN"}
"""The environment variables that may hold tokens."""

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
        With the feedback of all who have some, if it is to be sent.

    Raises
    ------
    CourseError
        If feedback is to be sent and none is written.
    AutograderError
        If the gradebook cannot be read.
    """
    grades = gather(course, assignment, asked.chosen)
    pages = {}
    if asked.feedback:
        files = {grade.student: course.feedback(grade.student, assignment) / "index.html" for grade in grades}
        pages = {student: page for student, page in files.items() if page.is_file()}
        if not pages:
            what = "there is no feedback to send"
            raise CourseError("--feedback", what, f"Write it first: autograder feedback {assignment}.")
    return Wanted(
        assignment=assignment,
        grades=grades,
        feedback=pages,
        comments=asked.comments,
        missing_as_zero=asked.missing_as_zero,
        clear=asked.clear,
    )


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

    where = _place(course, CANVAS, place)
    target = CanvasTarget(
        url=where.url,
        course=where.course,
        assignment=where.item or assignment,
        token=token_of(course, CANVAS, place.token_file),
    )
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

    where = _place(course, MOODLE, place)
    token = token_of(course, MOODLE, place.token_file)
    target = MoodleTarget(
        url=where.url, course=where.course, assignment=where.item or assignment, token=token
    )
    return MoodlePush(target, course.root, **_bounds(told))


def _bounds(told: Callable[[str], None]) -> dict[str, Any]:
    from autograder.lms.push import web  # noqa: PLC0415 - requests is slow to import, too

    return {"policy": replace(web.DEFAULT_POLICY, told=told), "clock": web.DEFAULT_CLOCK}


def _place(course: Course, lms: str, place: Place) -> Place:
    """Return a place whose address and course are known."""
    settings = lms_settings(course.config)
    found = {}
    for name, given in (("url", place.url), ("course", place.course)):
        found[name] = given or str(getattr(settings, f"{lms}_{name}"))
        if not found[name]:
            what = f"the {'address of' if name == 'url' else 'course in'} {_SHOWN[lms]} is not known"
            remedy = f"Give --{name}, or set c.Autograder.{lms}_{name} in nbgrader_config.py."
            raise CourseError(f"push {lms}", what, remedy)
    return Place(url=found["url"], course=found["course"], item=place.item, token_file=place.token_file)


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
