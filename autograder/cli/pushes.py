"""The group `push`: grades, comments and feedback sent to an LMS over the network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli.base import FAILED, INTERRUPTED, Group, on_course, print_json
from autograder.errors import AutograderError, CourseError
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.commands.pushing import Place, Pusher
    from autograder.course.course import Course
    from autograder.lms.push.model import Outcome, Plan
    from autograder.lms.push.wanted import Wanted

_SENT = (
    click.option("--comments", is_flag=True, help="Send a comment with each grade: the score by exercise."),
    click.option("--feedback", is_flag=True, help="Attach each student's feedback page, written anew."),
    click.option(
        "--missing-as-zero", is_flag=True, help="Give a zero to who handed in nothing. Default: no score."
    ),
    click.option(
        "--excuse", "excused", multiple=True, metavar="ID", help="This student is excused; may be repeated."
    ),
    click.option(
        "--unfinished", is_flag=True, help="Send what work has so far that a person has still to grade, too."
    ),
    click.option("--clear", is_flag=True, help="Take scores away from who handed in nothing."),
    click.option(
        "--student", "students", multiple=True, metavar="ID", help="This student only; may be repeated."
    ),
    click.option("--dry-run", is_flag=True, help="Send nothing; show what would be sent."),
    click.option("--yes", is_flag=True, help="Send without asking."),
)
_TOKEN = click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file with the token that only you may read. Default: the environment, then the settings.",
)


def _push_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what says which grades are sent and how."""
    for option in reversed(_SENT):
        command = option(command)
    return command


@click.group(cls=Group)
def push() -> None:
    """Send grades, comments and feedback to an LMS over the network."""


def _place_options(lms: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what gives a command the options that say where grades go."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        command = _TOKEN(command)
        for name, variable, what in (
            ("--item", "item", "The assignment there, its number or its name. Default: its name here."),
            ("--course", "there", f"The course there. Default: the setting {lms}_course."),
            ("--url", "url", f"Its address, or the assignment's there. Default: the setting {lms}_url."),
        ):
            command = click.option(name, variable, default="", help=what)(command)
        return command

    return decorated


@push.command()
@on_course
@_place_options("canvas")
@_push_options
def canvas(course: Course, assignments: list[str], *, as_json: bool, **asked: Any) -> None:
    """Send to an assignment in Canvas, through its REST interface."""
    from autograder.commands.pushing import to_canvas

    assignment = _only(assignments)
    _push(
        course,
        assignment,
        to_canvas(course, assignment, _place(asked), told=_told),
        as_json=as_json,
        asked=asked,
    )


@push.command()
@on_course
@_place_options("moodle")
@_push_options
def moodle(course: Course, assignments: list[str], *, as_json: bool, **asked: Any) -> None:
    """Send to an assignment in Moodle, through its web services."""
    from autograder.commands.pushing import to_moodle

    assignment = _only(assignments)
    _push(
        course,
        assignment,
        to_moodle(course, assignment, _place(asked), told=_told),
        as_json=as_json,
        asked=asked,
    )


@push.command()
@on_course
@click.option("--keys", is_flag=True, help="Print the tool's public key, and make one if there is none.")
@click.option(
    "--roster-to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write who is in the course into this file, for collect --roster; send nothing.",
)
@click.option(
    "--registration",
    type=click.Path(path_type=Path, dir_okay=False),
    help="How the LMS knows the tool. Default: lti.toml or lti.json in the course folder.",
)
@click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The private key. Default: the environment, then the registration's, then lti.key beside it.",
)
@_push_options
def lti(course: Course, assignments: list[str], *, as_json: bool, keys: bool, **asked: Any) -> None:
    """Send scores to any LMS over LTI 1.3, as a tool that is registered there."""
    from autograder.commands import pushing_lti as over

    files = over.ToolFiles(registration=asked.pop("registration"), key_file=asked.pop("key_file"))
    roster_to = asked.pop("roster_to")
    if keys:
        found = over.show_keys(course, files)
        print_json(found) if as_json else over.print_keys(found)
    elif roster_to is not None:
        written = over.write_roster(course, files, roster_to, told=_told)
        print_json(written) if as_json else over.print_roster(written)
    else:
        if asked["feedback"]:
            what = "LTI carries scores and comments, and no files"
            raise CourseError("--feedback", what, "Send pages by `feedback --zip`.")
        way = over.to_lti(course, files, told=_told)
        _push(course, _only(assignments), way, as_json=as_json, asked=asked)


def _place(asked: dict[str, Any]) -> Place:
    """Take out of the options what says where grades go."""
    from autograder.commands.pushing import Place

    names = ("url", "item", "token_file")
    return Place(course=asked.pop("there"), **{name: asked.pop(name) for name in names})


def _only(assignments: list[str]) -> str:
    """Return the one assignment that is sent."""
    if len(assignments) > 1:
        what = f"the course has {len(assignments)} assignments"
        raise CourseError("push", what, f"Name the one to send: {', '.join(assignments)}.")
    return assignments[0]


def _push(course: Course, assignment: str, pusher: Pusher, *, as_json: bool, asked: dict[str, Any]) -> None:
    """Show what would be sent, ask, send, and say what became of it."""
    from autograder.commands.gathering import Chosen
    from autograder.commands.pushed import plan_to_dict, print_outcomes, print_plan
    from autograder.commands.pushing import Asked, wanted_of, with_provisional
    from autograder.lms.push.model import Action, failures

    dry_run, yes = asked.pop("dry_run"), asked.pop("yes")
    chosen = Chosen(**{name: asked.pop(name) for name in ("excused", "unfinished", "students")})
    wanted = wanted_of(course, assignment, Asked(chosen=chosen, **asked))
    plan = with_provisional(pusher.plan(wanted), wanted)
    if not as_json:
        print_plan(plan, every_row=dry_run)
    outcomes = []
    if plan.to_send and not dry_run and _agreed(len(plan.to_send), yes=yes, as_json=as_json):
        outcomes = _sent(pusher, plan, wanted, quiet=as_json)
        if not as_json:
            print_outcomes(outcomes)
    if as_json:
        print_json(plan_to_dict(plan, outcomes))
    if failures(outcomes) or plan.counts().get(Action.BLOCKED):
        sys.exit(FAILED)


def _agreed(count: int, *, yes: bool, as_json: bool) -> bool:
    """Return whether it may be sent; nobody is asked where nobody can answer."""
    if yes:
        return True
    students = f"{count} student{'s' * (count != 1)}"
    if as_json or not sys.stdin.isatty():
        raise CourseError("push", f"the scores of {students} wait to be sent", "Give --yes, or --dry-run.")
    return click.confirm(f"Send this for {students}?", err=True)


def _sent(pusher: Pusher, plan: Plan, wanted: Wanted, *, quiet: bool) -> list[Outcome]:
    """Send a plan; Ctrl-C stops between two students, and says how to go on."""
    from autograder.commands.pushed import print_outcomes
    from autograder.progress import progress_bar

    outcomes: list[Outcome] = []
    try:
        with progress_bar(quiet=quiet) as bar:
            task = bar.add_task("sent", total=len(plan.to_send))
            for outcome in pusher.send(plan, wanted):
                outcomes.append(outcome)
                bar.advance(task)
    except AutograderError:
        # What went through before the LMS was lost is told all the same.
        if not quiet:
            print_outcomes(outcomes)
        raise
    except KeyboardInterrupt:
        line = f"interrupted: {len(outcomes)} of {len(plan.to_send)} are sent."
        click.secho(f"{line} The same command goes on from there.", fg="yellow", err=True)
        sys.exit(INTERRUPTED)
    return outcomes


def _told(line: str) -> None:
    """Say that, and why, we wait."""
    click.secho(printable(line), fg="yellow", err=True)
