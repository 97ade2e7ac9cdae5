"""Stores a graded submission: notebooks and files in `autograded/`, scores in the gradebook."""

from __future__ import annotations

import shutil
import stat
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import OperatorError
from autograder.notebook import write_notebook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course import Course
    from autograder.gradebook import Gradebook
    from autograder.grader import GradedSubmission
    from autograder.settings import Settings

IGNORED = (".*", "__pycache__", "*.pyc", "feedback")
"""Files and folders that nbgrader neither copies nor looks at, as in `configure_nbgrader`."""

READ_ONLY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


def store(course: Course, gradebook: Gradebook, settings: Settings, graded: GradedSubmission) -> None:
    """
    Store a graded submission where nbgrader would have put it.

    The folder is written beside its place and then moved there, so that a
    reader finds the old one or the new one, whole. The scores follow in one
    transaction.

    Parameters
    ----------
    course : Course
        The course.
    gradebook : Gradebook
        Its gradebook.
    settings : Settings
        Its settings.
    graded : GradedSubmission
        What the grader returned.

    Raises
    ------
    OperatorError
        If a file cannot be written, or the gradebook.
    """
    result = graded.result
    submitted = course.submitted(result.student, result.assignment)
    target = course.autograded(result.student, result.assignment)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
            folder = Path(scratch) / target.name
            folder.mkdir()
            for source in (submitted, course.source(result.assignment)):
                copy_files(source, folder)
            for name, notebook in graded.notebooks.items():
                write_notebook(folder / f"{name}.ipynb", notebook)
                (folder / f"{name}.ipynb").chmod(READ_ONLY)
            if target.exists():
                target.rename(Path(scratch) / "replaced")
            folder.rename(target)
    except OSError as error:
        raise OperatorError(
            target, f"cannot be written ({error.strerror})", "Check rights and space."
        ) from None
    gradebook.store(
        result, timestamp=graded.timestamp, unanswered=graded.unanswered, late_penalty=settings.late_penalty
    )


def copy_files(source: Path, target: Path) -> None:
    """
    Copy what lies beside the notebooks, without following links.

    Parameters
    ----------
    source, target : Path
        Folders. A file that is there already is replaced.
    """
    for path in _files(source):
        place = target / path.relative_to(source)
        if place.is_dir() or any(parent.is_file() for parent in place.parents):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        # A link could name any file of this machine.
        if path.is_symlink() or any(fnmatch(path.name, pattern) for pattern in IGNORED):
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file() and path.suffix != ".ipynb":
            yield path
