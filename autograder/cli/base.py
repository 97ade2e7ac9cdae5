"""What the commands have in common: the group they belong to, their options, and how they print."""

from __future__ import annotations

import json
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.course.layout import Step
from autograder.errors import AutograderError, CourseError, nearest
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.course.course import Course

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes."""


class Group(click.Group):
    """Commands whose errors are one line on stderr, and whose typos get an offer."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of that name, or end with the nearest one."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(f"there is no command {name!r}. {nearest(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of the kit is a line on stderr and an exit code."""
        try:
            return super().invoke(ctx)
        except AutograderError as error:
            click.secho(printable(f"error: {error}"), fg="red", err=True)
            ctx.exit(USAGE if isinstance(error, CourseError) else FAILED)


def course_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that every command on a course has: ``course_dir`` and ``as_json``."""
    command = click.option("--json", "as_json", is_flag=True, help="Print results as JSON, for machines.")(
        command
    )
    return click.option(
        "--course-dir",
        type=click.Path(path_type=Path, file_okay=False),
        help="The course folder. Default: the current folder or the nearest one above it.",
    )(command)


def find_course(course_dir: Path | None, assignment: str | None) -> tuple[Course, list[str]]:
    """Return the course, and the assignment that was named or all of them."""
    from autograder.course.course import Course

    course = Course.find(course_dir)
    names = course.assignments() if assignment is None else [course.check_assignment(assignment)]
    if not names:
        where = course.layout.parent(Step.SOURCE)
        raise CourseError(where, "there is no assignment", "Put a folder of notebooks there.")
    return course, names


def on_course(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the argument ASSIGNMENT and the options every command has."""

    @click.argument("assignment", required=False)
    @course_options
    @wraps(command)
    def wrapped(assignment: str | None, course_dir: Path | None, *, as_json: bool, **options: Any) -> None:
        command(*find_course(course_dir, assignment), as_json=as_json, **options)

    return wrapped


def print_json(value: object) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
