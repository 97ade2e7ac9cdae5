"""Commands between the course and an LMS: collect, export, push, bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli.base import on_course, print_json, short_path
from autograder.errors import CourseError

if TYPE_CHECKING:
    from autograder.course.course import Course


@click.command()
@on_course
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write. Default: exports/<assignment>.csv in the course folder.",
)
def export(course: Course, assignments: list[str], *, as_json: bool, to: Path | None) -> None:
    """Write the grades as CSV: a row for each student, a column for each grade cell."""
    from autograder.publishing import publish_grades

    if to is not None and len(assignments) > 1:
        raise CourseError(
            "--to", "one file cannot hold several assignments", "Name the assignment to export."
        )
    files = {assignment: str(publish_grades(course, assignment, to)) for assignment in assignments}
    if as_json:
        print_json(files)
        return
    for assignment, file in files.items():
        click.echo(f"{assignment}: {short_path(Path(file))}")
