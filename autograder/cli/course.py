"""Commands that act on a course and its submissions: release, grade, show."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autograder.cli.base import FAILED, INTERRUPTED, on_course, print_json
from autograder.course.layout import Step
from autograder.errors import CourseError
from autograder.terminal import short_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.commands.returning import Packed
    from autograder.course.course import Course
    from autograder.grading.batch import Graders
    from autograder.grading.planning import Again


@click.command()
@on_course
def release(course: Course, assignments: list[str], *, as_json: bool) -> None:
    """Build what students get, and put the points into the gradebook."""
    from autograder.release import build_release

    built = {assignment: build_release(course, assignment) for assignment in assignments}
    if as_json:
        print_json({name: [str(path) for path in paths] for name, paths in built.items()})
        return
    for name, paths in built.items():
        click.echo(f"{name}: released {len(paths)} notebook{'s' * (len(paths) != 1)}")
        for path in paths:
            click.echo(f"  {short_path(path)}")


@click.command()
@on_course
@click.option(
    "--student", "students", multiple=True, metavar="ID", help="Grade this student only; may be repeated."
)
@click.option("--force", is_flag=True, help="Grade everything again, changed or not.")
@click.option("--retry-failed", is_flag=True, help="Grade again what could not be graded the last time.")
@click.option(
    "--what-changed", is_flag=True, help="Store nothing; show who would gain and who would lose, by cell."
)
@click.option("--jobs", type=click.IntRange(1), help="Submissions graded at a time. Default: one a core.")
@click.option(
    "--unsafe-no-sandbox",
    is_flag=True,
    default=None,
    help="Grade even where this machine has no wall for student code; every result says so.",
)
def grade(course: Course, assignments: list[str], *, as_json: bool, **options: Any) -> None:
    """Grade what students handed in and has changed since; store scores and graded notebooks."""
    from autograder.grading.batch import Graders
    from autograder.grading.choosing import handed_in, with_work

    names = ("students", "force", "retry_failed", "what_changed")
    students, force, retry_failed, only_compare = (options.pop(name) for name in names)
    settings = course.settings(**options)
    wanted = {name: handed_in(course, name, students) for name in with_work(course, assignments)}
    first, count = next(iter(wanted)), max(map(len, wanted.values()))
    with _interruptible(), Graders(course, settings, first, count=count) as graders:
        if force or any(not course.autograded(one, name).is_dir() for name in wanted for one in wanted[name]):
            # There is something to do: the processes get ready while the rest is imported.
            graders.start()
        from autograder.grading.planning import Again

        again = Again.EVERYTHING if force else Again.FAILED if retry_failed else Again.NOTHING
        do = _compare if only_compare else _grade
        is_whole = do(graders, wanted, as_json=as_json, again=again)
    if not is_whole:
        sys.exit(FAILED)


def _grade(graders: Graders, wanted: dict[str, list[str]], *, as_json: bool, again: Again) -> bool:
    """Grade and store; return whether everything could be graded."""
    from autograder.grading.run import grade_assignment
    from autograder.grading.summary import print_summary

    batches = [
        grade_assignment(graders, assignment, ids, again=again, quiet=as_json)
        for assignment, ids in wanted.items()
    ]
    if as_json:
        for number, batch in enumerate(batches):
            click.echo(",\n" if number else "[", nl=False)
            for piece in batch.to_json():
                click.echo(piece, nl=False)
        click.echo("]")
    else:
        for batch in batches:
            print_summary(graders.course, batch)
    return not any(batch.not_graded for batch in batches)


def _compare(graders: Graders, wanted: dict[str, list[str]], *, as_json: bool, again: Again) -> bool:
    """Show what grading would change; return whether everything could be graded."""
    from autograder.grading.comparing import print_comparison, what_changed

    comparisons = [
        what_changed(graders, assignment, ids, again=again, quiet=as_json)
        for assignment, ids in wanted.items()
    ]
    if as_json:
        print_json([comparison.to_dict() for comparison in comparisons])
    else:
        for comparison in comparisons:
            print_comparison(comparison)
    return not any(comparison.not_graded for comparison in comparisons)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and the end of a batch job store what was graded, and say how to go on."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except KeyboardInterrupt:
        line = (
            "interrupted: what was graded is stored. The same command goes on from there"
            " (--force would begin anew)."
        )
        click.secho(line, fg="yellow", err=True)
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)


@click.command()
@on_course
@click.option(
    "--student", "students", multiple=True, metavar="ID", help="This student only; may be repeated."
)
@click.option("--jobs", type=click.IntRange(1), help="Processes that write. Default: one a core.")
@click.option(
    "--zip",
    "lms",
    type=click.Choice(["canvas", "moodle", "blackboard", "brightspace", "sakai"]),
    help="Also pack the pages for the LMS that the work was collected from.",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The zip to write. Default: exports/<assignment>-feedback-<lms>.zip in the course folder.",
)
@click.option(
    "--download",
    type=click.Path(path_type=Path, exists=True),
    help="What was downloaded from Brightspace, whose index page it may want back.",
)
def feedback(
    course: Course, assignments: list[str], *, as_json: bool, students: tuple[str, ...], **asked: Any
) -> None:
    """Write a feedback page for each student."""
    from autograder.grading.choosing import graded, with_results
    from autograder.publishing import publish_feedback

    for option in ("to", "download"):
        if asked[option] is not None and (asked["lms"] is None or len(assignments) > 1):
            remedy = f"Name one assignment and --zip: {', '.join(assignments)}."
            raise CourseError(f"--{option}", "it is of the zip of one assignment", remedy)
    jobs = course.settings(jobs=asked["jobs"]).jobs
    pages = {}
    for name in with_results(course, assignments):
        wanted = graded(course, name, students)
        pages[name] = publish_feedback(course, name, wanted, jobs=jobs, quiet=as_json)
    packed = _packed(course, pages, asked) if asked["lms"] else []
    if as_json:
        shown = {name: {one: str(page) for one, page in found.items()} for name, found in pages.items()}
        print_json([one.to_dict() for one in packed] if packed else shown)
        return
    for assignment, written in pages.items():
        click.echo(f"{assignment}: feedback for {len(written)} student{'s' if len(written) != 1 else ''}")
        click.echo(f"  {short_path(course.layout.shown(Step.FEEDBACK, assignment))}/index.html")
    for one in packed:
        from autograder.commands.returning import print_packed

        print_packed(one)


def _packed(course: Course, pages: dict[str, dict[str, Path]], asked: dict[str, Any]) -> list[Packed]:
    """Pack the pages of each assignment that was collected from the LMS; of several not all need be."""
    from autograder.commands.returning import Way, pack_feedback, was_collected
    from autograder.lms.model import Lms

    way = Way(lms=Lms(asked["lms"]), to=asked["to"], download=asked["download"])
    names = [name for name in pages if was_collected(course, name, way.lms)] or list(pages)
    return [pack_feedback(course, name, pages[name], way) for name in names]


@click.command()
@on_course
@click.option("--student", "students", multiple=True, metavar="ID", help="Whose; may be repeated.")
@click.option("--days", type=click.FloatRange(0), default=0, help="Days after the due date.")
@click.option("--hours", type=click.FloatRange(0), default=0, help="Hours after it, added to the days.")
@click.option("--minutes", type=click.FloatRange(0), default=0, help="Minutes after it, added to the hours.")
@click.option("--until", metavar="TIME", default="", help="A time, as '2027-01-31 23:59 UTC'.")
@click.option("--none", "nothing", is_flag=True, help="Take the extension back.")
def extend(
    course: Course, assignments: list[str], *, as_json: bool, students: tuple[str, ...], **more: Any
) -> None:
    """Give a student more time; without --student, list who has some."""
    from autograder.commands.extending import asked, print_extended

    found = asked(course, assignments, students, **more)
    if as_json:
        print_json([one.to_dict() for one in found])
        return
    for one in found:
        print_extended(one)


@click.command()
@on_course
def report(course: Course, assignments: list[str], *, as_json: bool) -> None:
    """Write a page on the class: scores, failing checks, mistakes."""
    from autograder.grading.choosing import with_results
    from autograder.publishing import publish_report

    graded = with_results(course, assignments)
    pages = {assignment: str(publish_report(course, assignment)) for assignment in graded}
    if as_json:
        print_json(pages)
        return
    for assignment, page in pages.items():
        click.echo(f"{assignment}: {short_path(Path(page))}")


@click.command()
@click.option(
    "--course-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="The course folder. Default: the current folder or the nearest one above it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print findings as JSON, for machines.")
def doctor(course_dir: Path | None, *, as_json: bool) -> None:
    """Say what this machine and this course have, and what to mend."""
    from autograder.commands.doctor import examine, print_findings

    findings = examine(course_dir)
    if as_json:
        print_json([finding.to_dict() for finding in findings])
    else:
        print_findings(findings)
    if any(not finding.good for finding in findings):
        sys.exit(FAILED)


@click.command()
@click.argument(
    "notebooks",
    nargs=-1,
    required=True,
    metavar="NOTEBOOK...",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@click.option("--json", "as_json", is_flag=True, help="Print findings as JSON, for machines.")
@click.option(
    "--unsafe-no-sandbox", is_flag=True, help="Run even where this machine has no wall for a notebook's code."
)
def validate(notebooks: tuple[Path, ...], *, as_json: bool, unsafe_no_sandbox: bool) -> None:
    """Run the visible tests of notebooks; exit code 1 if one fails."""
    from autograder.commands.validating import print_validation
    from autograder.commands.validating import validate as validated

    found = validated(notebooks, unsafe_no_sandbox=unsafe_no_sandbox)
    if as_json:
        print_json([one.to_dict() for one in found])
    else:
        for one in found:
            print_validation(one)
    if not all(one.passed for one in found):
        sys.exit(FAILED)


@click.command()
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    help="A new folder for the demo course. Default: a folder for temporary files.",
)
def demo(to: Path | None) -> None:
    """Grade an invented class, in a copy of this course."""
    from autograder.commands.demo import run_demo

    run_demo(to)
