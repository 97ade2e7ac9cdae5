"""The command `doctor`: what this machine and this course have, in plain words."""

from __future__ import annotations

import platform
import sys
import sysconfig
import tempfile
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from traitlets.config import Config

from autograder.commands.pushing import CANVAS, MOODLE, VARIABLES, token_of
from autograder.course.course import Course
from autograder.course.late import course_penalty
from autograder.course.layout import Step
from autograder.course.lms_settings import lms_settings
from autograder.course.settings import help_texts, settings_of
from autograder.errors import AutograderError, CourseError
from autograder.gradebook import Gradebook
from autograder.release import check_release
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wall import Tier, probe
from autograder.submission.misplaced import misplaced
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.settings import Settings

_PACKAGES = ("autograder", "nbgrader", "numpy", "ipython", "pytest", "SQLAlchemy", "matplotlib")
_NAMED = 20


class Level(StrEnum):
    """How much a finding matters."""

    GOOD = "good"
    NOTE = "note"
    """Works, but should be known."""
    BAD = "bad"
    """Something will not work until it is mended."""


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One thing that was looked at.

    Parameters
    ----------
    name : str
        What was looked at.
    level : Level
        How it is.
    text : str
        What was found.
    remedy : str
        What to do, if anything.
    is_default : bool
        True for a setting that nobody has changed.
    """

    name: str
    level: Level
    text: str
    remedy: str = ""
    is_default: bool = False

    @property
    def good(self) -> bool:
        """False if something has to be mended."""
        return self.level is not Level.BAD

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON types."""
        return asdict(self) | {"level": self.level.value}


def examine(course_dir: Path | None) -> list[Finding]:
    """
    Look at the machine and at the course.

    Parameters
    ----------
    course_dir : Path, optional
        The course folder. By default the one that the current folder is in.

    Returns
    -------
    list of Finding
        In an order to read. Nothing is changed.
    """
    findings = [*_machine(), _sandbox()]
    try:
        course = Course.find(course_dir)
    except CourseError as error:
        level = Level.NOTE if course_dir is None else Level.BAD
        return [*findings, Finding("course", level, f"{error.where} {error.what}", error.remedy)]
    return [*findings, *_course(course)]


def print_findings(findings: list[Finding]) -> None:
    """
    Print findings, one a line, with what to do below; of the settings those that were changed.

    Parameters
    ----------
    findings : list of Finding
        What was found.
    """
    signs = {Level.GOOD: ("ok  ", "green"), Level.NOTE: ("note", "yellow"), Level.BAD: ("BAD ", "red")}
    shown = [finding for finding in findings if not finding.is_default]
    if len(shown) < len(findings):
        text = "those not named here are as by default (docs/operator.md#settings)"
        shown.append(Finding("settings", Level.GOOD, text))
    width = max(len(finding.name) for finding in shown)
    for finding in shown:
        sign, colour = signs[finding.level]
        click.echo(f"{click.style(sign, fg=colour)}  {finding.name:{width}}  {finding.text}")
        if finding.remedy:
            click.echo(f"{'':{width + 8}}{finding.remedy}")


def _machine() -> Iterator[Finding]:
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    yield Finding(
        "python", Level.GOOD, f"{platform.python_version()} on {platform.system()} ({sys.executable})"
    )
    missing = [name for name in _PACKAGES if not _version(name)]
    if missing:
        yield Finding("packages", Level.BAD, f"missing: {', '.join(missing)}", "Run `make setup`.")
    else:
        yield Finding("packages", Level.GOOD, versions)
    if not (Path(sysconfig.get_path("scripts")) / "alembic").exists():
        yield Finding(
            "alembic", Level.BAD, "the program that makes a gradebook is missing", "Run `make setup`."
        )


def _sandbox() -> Finding:
    wall = probe()
    level = {Tier.A: Level.GOOD, Tier.B: Level.NOTE, Tier.C: Level.BAD}[wall.tier]
    remedy = "; ".join(wall.missing)
    try:
        with tempfile.TemporaryDirectory() as scratch, Sandbox(wall, Path(scratch)) as sandbox:
            sandbox.start(Limits()).close()
    except AutograderError as error:
        return Finding("sandbox", Level.BAD, f"tier {wall.tier}: {error.what}", error.remedy)
    return Finding("sandbox", level, f"tier {wall.tier}: student code runs inside {wall.text}", remedy)


def _course(course: Course) -> Iterator[Finding]:
    yield Finding("course", Level.GOOD, str(course.root))
    if course.layout.is_own:
        yield Finding("layout", Level.GOOD, f"submissions are in {course.layout.shown(Step.SUBMITTED)}")
    try:
        settings = course.settings()
        with Gradebook(settings.db_url) as gradebook:
            yield Finding("gradebook", Level.GOOD, gradebook.where)
    except AutograderError as error:
        yield Finding("gradebook", Level.BAD, f"{error.where}: {error.what}", error.remedy)
        return
    for assignment in course.assignments():
        try:
            check_release(course, assignment)
        except AutograderError as error:
            yield Finding(assignment, Level.BAD, error.what, error.remedy)
        else:
            count = len(course.layout.students_in(Step.SUBMITTED, assignment))
            yield Finding(assignment, Level.GOOD, f"the release is up to date; {count} submissions")
        for one in misplaced(course, assignment)[:_NAMED]:
            where, remedy = printable(f"{one.where}: {one.what}"), printable(one.remedy)
            yield Finding(assignment, Level.NOTE, where, remedy)
    yield _late_work(course, settings)
    yield from _lms(course)
    yield from _settings(course, settings)


def _late_work(course: Course, settings: Settings) -> Finding:
    words = {"none": "nothing is taken off", "zero": "all points are taken off"}
    try:
        course_penalty(course, settings)
    except AutograderError as error:
        return Finding("late work", Level.BAD, error.what, error.remedy)
    told = words.get(settings.late_penalty, f"the plug-in {settings.late_penalty} says what is taken off")
    return Finding("late work", Level.GOOD, told)


def _settings(course: Course, settings: Settings) -> Iterator[Finding]:
    usual = Config()
    values = asdict(settings) | asdict(lms_settings(course.config))
    defaults = asdict(settings_of(course.root, usual)) | asdict(lms_settings(usual))
    for name, text in help_texts().items():
        value = values[name]
        yield Finding(f"  {name}", Level.GOOD, f"{value}", text, is_default=value == defaults[name])


def _lms(course: Course) -> Iterator[Finding]:
    """Yield whether grades could be sent; nobody is asked over the network."""
    told = asdict(lms_settings(course.config))
    for lms in (CANVAS, MOODLE):
        if not told[f"{lms}_url"]:
            continue
        try:
            source = token_of(course, lms).source
        except AutograderError as error:
            level = Level.NOTE if error.where == VARIABLES[lms] else Level.BAD
            yield Finding(lms, level, f"{error.where}: {error.what}", error.remedy)
        else:
            yield Finding(
                lms, Level.GOOD, f"grades can go to {told[f'{lms}_url']}, with the token from {source}"
            )


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
