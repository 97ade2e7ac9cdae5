"""The command `collect`: what was downloaded from an LMS becomes the submissions of the course."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli.base import FAILED, course_options, find_course, print_json
from autograder.errors import CourseError, nearest

if TYPE_CHECKING:
    from datetime import tzinfo

_LMS = ("canvas", "moodle", "blackboard", "brightspace", "sakai", "nbgrader", "plain")
_IDS = ("login", "sis", "user", "email")


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="FILE... [ASSIGNMENT]")
@course_options
@click.option("--from", "lms", type=click.Choice(_LMS), help="Where the files are from. Default: found out.")
@click.option(
    "--roster",
    "rosters",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The LMS's own export that tells who is in the course; may be repeated.",
)
@click.option(
    "--student-id",
    type=click.Choice(_IDS),
    help="What the ids of the course are. Default: the login, else the registrar's, else the number.",
)
@click.option(
    "--zone",
    metavar="NAME",
    help="The zone of times that are told without one, as Europe/Berlin. Default: this machine's.",
)
@click.option("--force", is_flag=True, help="Replace what is later or was changed by hand; it is kept aside.")
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would happen.")
def collect(
    words: tuple[str, ...],
    course_dir: Path | None,
    *,
    as_json: bool,
    zone: str | None,
    **options: Any,
) -> None:
    """
    Put what students handed in to an LMS into the course.

    FILE is what you downloaded from the LMS, as it is: a zip, or a folder.
    """
    from autograder.commands.collected import print_collection
    from autograder.commands.collecting import Wanted, asked
    from autograder.commands.collecting import collect as collected
    from autograder.lms.collecting.students import StudentId
    from autograder.lms.model import Lms

    course, _ = find_course(course_dir, None)
    files, assignment = asked(course, words)
    lms, student_id = options.pop("lms"), options.pop("student_id")
    wanted = Wanted(
        files=files,
        assignment=assignment,
        lms=Lms(lms) if lms else None,
        student_id=StudentId(student_id) if student_id else None,
        zone=_zone(zone),
        quiet=as_json,
        **options,
    )
    collection = collected(course, wanted)
    if as_json:
        print_json(collection.to_dict())
    else:
        print_collection(collection)
    if collection.problems:
        sys.exit(FAILED)


def _zone(name: str | None) -> tzinfo:
    """Return a zone by its name; the machine's by default."""
    if name is None:
        from dateutil import tz

        # The system's own rules, so that summer counts in summer.
        return tz.tzlocal()
    from zoneinfo import ZoneInfo, available_timezones

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        what = f"there is no zone {name!r}"
        raise CourseError("--zone", what, nearest(name, available_timezones())) from None
