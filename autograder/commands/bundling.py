"""The commands `bundle`: an assignment on its way into another system, as one file."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from autograder.checks.report import number
from autograder.errors import CheckError, CourseError, nearest
from autograder.lms.bundles.cartridge import cartridge_files
from autograder.lms.bundles.gradescope import gradescope_files
from autograder.lms.bundles.gradescope_results import Shown
from autograder.lms.gradescope import Visibility
from autograder.lms.zipping import write_zip
from autograder.release import check_release
from autograder.terminal import printable, short_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.course.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """
    A bundle that was written.

    Parameters
    ----------
    assignment : str
        The assignment.
    file : Path
        The file.
    notes : tuple of str
        What to do with it, a sentence each.
    """

    assignment: str
    file: Path
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {"assignment": self.assignment, "file": str(self.file), "notes": list(self.notes)}


def bundle_gradescope(
    course: Course, assignment: str, settings: Settings, shown: Shown, to: Path | None = None
) -> Bundle:
    """
    Write the zip that an instructor uploads to Gradescope as the autograder of an assignment.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    settings : Settings
        The limits on student code, and whether it may run without a wall.
    shown : Shown
        When students see what hidden checks found.
    to : Path, optional
        The file, which only its owner can read. By default one in the course's exports.

    Returns
    -------
    Bundle
        What was written.

    Raises
    ------
    CourseError
        If the release is not up to date, or cannot be graded elsewhere.
    OperatorError
        If the file cannot be written.
    """
    check_release(course, assignment)
    path = to or course.exports / f"{assignment}-gradescope.zip"
    write_zip(path, gradescope_files(course, assignment, settings, shown), private=True)
    return Bundle(
        assignment=assignment, file=path, notes=tuple(_gradescope_notes(course, assignment, settings, shown))
    )


def _gradescope_notes(course: Course, assignment: str, settings: Settings, shown: Shown) -> Iterable[str]:
    cells = [cell for book in course.released(assignment) for cell in book.graded]
    by_hand = sum((cell.points for cell in cells if cell.kind.manual), Decimal(0))
    points = sum((cell.points for cell in cells), Decimal(0)) - by_hand
    yield f"Set the autograder's points there to {number(points)}."
    if by_hand:
        yield f"{number(by_hand)} points are graded by hand: add questions for them there."
    yield f"Students see what the checks found: {shown.usually.replace('_', ' ')}."
    yield "It holds hidden checks, solutions and a secret: keep it from students."
    if settings.unsafe_no_sandbox:
        yield "Where Gradescope has no wall, student code will run without one, as a user of its own."


def shown_of(course: Course, assignment: str, usually: str, asked: Iterable[str]) -> Shown:
    """
    Return when students see what, from what a command line says.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    usually : str
        Gradescope's word for when.
    asked : iterable of str
        ``NAME=WHEN``: a test cell or a check, and Gradescope's word.

    Returns
    -------
    Shown
        For the bundle.

    Raises
    ------
    CourseError
        If there is no such cell, check or word.
    """
    known = _names(course, assignment)
    words = [one.value for one in Visibility]
    of: dict[str, Visibility] = {}
    for pair in asked:
        name, _, when = pair.partition("=")
        if name not in known:
            raise CourseError(
                "--show-check", f"there is no test cell or check {name!r}", nearest(name, known)
            )
        if when not in words:
            raise CourseError("--show-check", f"{when!r} says not when", nearest(when, words))
        of[name] = Visibility(when)
    return Shown(usually=Visibility(usually), of=of)


def _names(course: Course, assignment: str) -> set[str]:
    """Return the test cells of an assignment, and the checks in their modules."""
    from autograder.checks.suite import modules  # noqa: PLC0415 - it imports pytest

    names = {cell.grade_id for book in course.released(assignment) for cell in book.graded}
    try:
        paths: Mapping[str, Path] = modules(assignment)
    except CheckError:
        # Its tests stand in its notebooks.
        return names
    for path in paths.values():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {
            node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[:5] == "test_"
        }
    return names


def bundle_cartridge(course: Course, assignment: str, title: str = "", to: Path | None = None) -> Bundle:
    """
    Write a Common Cartridge with an assignment for students, which many LMSs import.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    title : str
        What the LMS is to call it; by default its name.
    to : Path, optional
        The file. By default one in the course's exports.

    Returns
    -------
    Bundle
        What was written.

    Raises
    ------
    CourseError
        If the release is not up to date.
    OperatorError
        If the file cannot be written.
    """
    check_release(course, assignment)
    path = to or course.exports / f"{assignment}.imscc"
    write_zip(path, cartridge_files(course, assignment, title=title))
    notes = (
        "Import it as a Common Cartridge; set the due date there: the format has no place for it.",
        "An LMS that does not know the extension for assignments shows the instructions and the notebooks.",
    )
    return Bundle(assignment=assignment, file=path, notes=notes)


def print_bundle(bundle: Bundle) -> None:
    """
    Print what was written.

    Parameters
    ----------
    bundle : Bundle
        The bundle.
    """
    click.echo(printable(f"{bundle.assignment}: {short_path(bundle.file)}"))
    for note in bundle.notes:
        click.echo(printable(f"  {note}"))
