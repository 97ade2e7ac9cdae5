"""
The command `autograder`: it acts on the course in the current folder, or in `--course-dir`.

Exit codes: 0 done, 1 some submission could not be graded, a validated notebook
failed or the machine did, 2 the command or the course is wrong, 130 interrupted.
A low score is not a failure.
"""

from __future__ import annotations

import sys

import click

from autograder.cli import bundles, course, downloads, exports, pushes
from autograder.cli.base import FAILED, INTERRUPTED, USAGE, Group

__all__ = ["FAILED", "INTERRUPTED", "USAGE", "main", "run"]


def run() -> None:
    """Be the program `autograder`."""
    # Processes that grade would import the program's file again, and have no use for it.
    sys.modules["__main__"].__file__ = None
    main()


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="autograder", message="autograder %(version)s")
def main() -> None:
    """Release, grade and report the assignments of an nbgrader course."""


for _command in (
    course.release,
    course.grade,
    course.feedback,
    course.extend,
    course.report,
    course.doctor,
    course.validate,
    course.demo,
    downloads.collect,
    exports.export,
    bundles.bundle,
    pushes.push,
):
    main.add_command(_command)
