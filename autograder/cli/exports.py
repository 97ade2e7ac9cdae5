"""The command `export`: grades as files that an LMS or a spreadsheet takes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli.base import course_options, find_course, print_json
from autograder.errors import CourseError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SEVERAL: Mapping[str, str] = {
    "moodle-worksheet": "the grading worksheet of one assignment, with comments",
    "moodle-grades": "the gradebook's CSV import, for any item",
}
"""Formats of an LMS that has several, and what each is for."""


@click.command()
@click.argument("words", nargs=-1, metavar="[FORMAT] [ASSIGNMENT]")
@course_options
@click.option(
    "--like",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Your own export from the LMS, whose names and ids are copied. Most formats need it.",
)
@click.option("--title", default="", help="What the LMS calls the assignment. Default: its name here.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="HEADER",
    help="The column to fill; with --by-exercise NOTEBOOK=HEADER each. Default: the one of that title.",
)
@click.option("--by-exercise", is_flag=True, help="A column for each notebook instead of one for all.")
@click.option(
    "--comments", is_flag=True, help="Send a comment beside each grade, where there is a place for it."
)
@click.option(
    "--missing-as-zero", is_flag=True, help="Give a zero to who handed in nothing. Default: no score."
)
@click.option(
    "--excuse", "excused", multiple=True, metavar="ID", help="This student is excused; may be repeated."
)
@click.option(
    "--unfinished", is_flag=True, help="Send what work has so far that a person has still to grade, too."
)
@click.option("--set", "options", multiple=True, metavar="NAME=VALUE", help="What only this format asks for.")
@click.option(
    "--to",
    help="The file to write, or a folder, with / at its end if it is to be made. Default: in exports/.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what the LMS would do.")
def export(
    words: tuple[str, ...],
    course_dir: Path | None,
    *,
    as_json: bool,
    excused: tuple[str, ...],
    unfinished: bool,
    **asked: Any,
) -> None:
    """
    Write the grades for an LMS or a spreadsheet, and say what it will do with them.

    FORMAT is csv (the default: a row for each student, a column for each grade
    cell), json, canvas, moodle-worksheet, moodle-grades, blackboard,
    brightspace, sakai, openedx, gradescope or oneroster.
    """
    from autograder.commands.exported import print_export
    from autograder.commands.exporting import FORMATS, Asked, export_grades
    from autograder.commands.gathering import Chosen

    name, assignment = _format_and_assignment(words, FORMATS)
    asked["in_folder"] = (asked["to"] or "").endswith(("/", os.sep))
    asked["to"] = Path(asked["to"]) if asked["to"] else None
    course, assignments = find_course(course_dir, None)
    if assignment is not None and assignment not in assignments:
        kinds = "a format nor an assignment" if len(words) == 1 else "an assignment of the course"
        what = f"{assignment!r} is {'neither' if len(words) == 1 else 'not'} {kinds}"
        raise CourseError("export", what, _offer(assignment, FORMATS, assignments))
    assignments = assignments if assignment is None else [assignment]
    one_file = next((f"--{name}" for name in ("to", "like", "columns", "title") if asked[name]), "")
    if one_file and len(assignments) > 1:
        what = f"it is of one assignment, and the course has {len(assignments)}"
        raise CourseError(one_file.removesuffix("s"), what, f"Name one: {', '.join(assignments)}.")
    chosen = Chosen(excused=excused, unfinished=unfinished)
    done = [export_grades(course, one, Asked(format=name, chosen=chosen, **asked)) for one in assignments]
    if as_json:
        print_json([one.to_dict() for one in done])
        return
    for one in done:
        print_export(one, every_change=asked["dry_run"])


def _format_and_assignment(words: tuple[str, ...], formats: Iterable[str]) -> tuple[str, str | None]:
    """Return the format, which is csv if none is named, and the assignment."""
    if len(words) > len(("format", "assignment")):
        raise click.UsageError(f"{words[2]!r} is one word too many")
    if not words or words[0] in formats:
        return (words or ("csv",))[0], words[1] if len(words) > 1 else None
    if len(words) > 1:
        raise click.UsageError(f"there is no format {words[0]!r}. {_offer(words[0], formats)}")
    return "csv", words[0]


def _offer(word: str, formats: Iterable[str], assignments: Iterable[str] = ()) -> str:
    """Return a remedy: the formats of an LMS that has several, else the nearest word."""
    several = [name for name in formats if name.startswith(f"{word.casefold()}-")]
    if several:
        return f"There are {' and '.join(f'{name} ({_SEVERAL[name]})' for name in several)}."
    return nearest(word, [*formats, *assignments])
