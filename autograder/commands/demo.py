"""The command `demo`: the whole way on an invented class, in a copy of the course."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import click
from dateutil import parser, tz
from rich.console import Console

from autograder.commands.demo_class import ASSIGNMENT, CLASS, DUE, write_submission
from autograder.commands.exporting import Asked, export_grades
from autograder.course.configuration import CONFIG_FILE
from autograder.course.course import Course
from autograder.course.nbgrader_settings import default_db_url
from autograder.errors import CourseError
from autograder.gradebook import Gradebook
from autograder.gradebook.database import Database
from autograder.grading.batch import Graders
from autograder.grading.run import grade_assignment
from autograder.grading.summary import score_table
from autograder.publishing import publish_feedback, publish_report
from autograder.release import build_release
from autograder.sandbox.wall import Tier, probe

_COPIED = (CONFIG_FILE, "source", "solutions", "release", "gradebook.db")
_WALL_TIME_S = 3.0


def run_demo(target: Path | None = None) -> Path:
    """
    Release, hand in, grade, and write feedback, report and grades for an invented class.

    Parameters
    ----------
    target : Path, optional
        A new folder for the demo's course. By default a new folder for
        temporary files. The course at hand is only read.

    Returns
    -------
    Path
        The demo's course folder.

    Raises
    ------
    CourseError
        If the kit's own course is not here, or the target exists.
    """
    start_s = time.monotonic()
    course = _copy(_of_the_kit(Course.find()), target)
    click.echo(f"The demo works on a copy of the course: {course.root}")
    _step(1, "release the assignment (this is nbgrader's part, the slow one)")
    build_release(course, ASSIGNMENT)
    _step(2, f"{len(CLASS)} invented students hand in")
    _hand_in(course)
    _step(3, "grade them")
    # The class is ours: a machine that can build no wall may see the demo all the same.
    bare = probe().tier is Tier.C
    if bare:
        click.echo(
            "This machine has no wall for student code; a real class would be refused. See: autograder doctor"
        )
    settings = course.settings(wall_time_s=_WALL_TIME_S, unsafe_no_sandbox=bare)
    with Graders(course, settings, ASSIGNMENT, count=len(CLASS)) as graders:
        batch = grade_assignment(graders, ASSIGNMENT, course.students(ASSIGNMENT))
    Console(highlight=False).print(score_table(batch.results))
    _step(4, "write feedback, report and grades")
    publish_feedback(course, ASSIGNMENT, [result.student for result in batch.results])
    report = publish_report(course, ASSIGNMENT)
    table = export_grades(course, ASSIGNMENT, Asked(format="csv")).path
    _say_where(course, report, table, time.monotonic() - start_s)
    return course.root


def _of_the_kit(course: Course) -> Course:
    """Return the course if it is the one that the demo is about, with its folders in their places."""
    if ASSIGNMENT not in course.assignments() or course.layout.is_own:
        what = f"is not the kit's own course: {ASSIGNMENT} is not there, or folders have other names"
        raise CourseError(course.root, what, "Run the demo in a fresh clone of the repository.")
    return course


def _copy(course: Course, target: Path | None) -> Course:
    if target is None:
        root = Path(tempfile.mkdtemp(prefix="autograder-demo-"))
    else:
        root = target.resolve()
        if root.exists():
            raise CourseError(root, "exists already", "Name a folder that does not.")
        root.mkdir(parents=True)
    for name in _COPIED:
        source = course.root / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copyfile(source, root / name)
    if course.db_url != default_db_url(course.root):
        # The course keeps its grades elsewhere; nobody of the demo belongs there.
        with (root / CONFIG_FILE).open("a", encoding="utf-8") as file:
            file.write(f"\nget_config().CourseDirectory.db_url = {default_db_url(root)!r}\n")
    return Course(root=root)


def _hand_in(course: Course) -> None:
    due = parser.parse(DUE).astimezone(tz.UTC).replace(tzinfo=None)
    database = Database(course.db_url)
    try:
        with database.writing() as connection:
            assignment = database.table("assignment")
            connection.execute(assignment.update().where(assignment.c.name == ASSIGNMENT).values(duedate=due))
    finally:
        database.close()
    with Gradebook(course.db_url) as gradebook:
        for student in CLASS:
            gradebook.enroll(student.student, first_name=student.first_name, last_name=student.last_name)
            write_submission(course, student)


def _step(count: int, text: str) -> None:
    click.secho(f"\n{count}. {text}", bold=True)


def _say_where(course: Course, report: Path, table: Path, elapsed_s: float) -> None:
    page = course.feedback("chidi", ASSIGNMENT) / "index.html"
    click.echo()
    for what, where in (
        ("the class on one page", report),
        ("a student's feedback", page),
        ("grades as CSV", table),
        ("what a student gets", course.release(ASSIGNMENT)),
        ("graded notebooks", course.root / "autograded"),
    ):
        click.echo(f"  {what:22} {where}")
    click.echo(f"\nDone in {elapsed_s:.0f} s. Delete {course.root} when you have seen enough.")
