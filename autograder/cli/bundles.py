"""The group `bundle`: an assignment on its way into another system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli.base import Group, on_course, print_json
from autograder.errors import CourseError

if TYPE_CHECKING:
    from autograder.commands.bundling import Bundle
    from autograder.course.course import Course

_WHEN = ("visible", "after_due_date", "after_published", "hidden")


@click.group(cls=Group)
def bundle() -> None:
    """Pack an assignment for another system."""


@bundle.command()
@on_course
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file. Default: exports/<assignment>-gradescope.zip in the course folder.",
)
@click.option(
    "--show",
    type=click.Choice(_WHEN),
    default="after_published",
    show_default=True,
    help="When students see what hidden checks found.",
)
@click.option(
    "--show-check",
    "checks",
    multiple=True,
    metavar="NAME=WHEN",
    help="The same for one test cell or check; may be repeated.",
)
@click.option(
    "--unsafe-no-sandbox",
    is_flag=True,
    default=None,
    help="Grade there even without a wall for student code, which then runs as a user of its own.",
)
def gradescope(
    course: Course, assignments: list[str], *, as_json: bool, to: Path | None, **asked: Any
) -> None:
    """Write the zip that Gradescope runs as the autograder of an assignment."""
    from autograder.commands.bundling import bundle_gradescope, shown_of

    _check_one("--to" if to is not None else "--show-check" if asked["checks"] else "", assignments)
    settings = course.settings(unsafe_no_sandbox=asked["unsafe_no_sandbox"])
    made = []
    for one in assignments:
        shown = shown_of(course, one, asked["show"], asked["checks"])
        made.append(bundle_gradescope(course, one, settings, shown, to))
    _print(made, as_json=as_json)


@bundle.command()
@on_course
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file. Default: exports/<assignment>.imscc in the course folder.",
)
@click.option("--title", default="", help="What the LMS is to call the assignment. Default: its name here.")
def cartridge(course: Course, assignments: list[str], *, as_json: bool, to: Path | None, title: str) -> None:
    """Write a Common Cartridge with what students get: notebooks, instructions and points."""
    from autograder.commands.bundling import bundle_cartridge

    _check_one("--to" if to is not None else "--title" if title else "", assignments)
    _print([bundle_cartridge(course, one, title, to) for one in assignments], as_json=as_json)


def _check_one(option: str, assignments: list[str]) -> None:
    if option and len(assignments) > 1:
        what = f"it is of one assignment, and the course has {len(assignments)}"
        raise CourseError(option, what, f"Name one: {', '.join(assignments)}.")


def _print(made: list[Bundle], *, as_json: bool) -> None:
    from autograder.commands.bundling import print_bundle

    if as_json:
        print_json([one.to_dict() for one in made])
        return
    for one in made:
        print_bundle(one)
