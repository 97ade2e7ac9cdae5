"""
What a grading depends on, as one number: equal numbers, equal results.

The number is a hash of what was handed in, of the assignment with its hidden
checks and known misconceptions, of the settings, of the course's secret, and
of the kit and the packages that run student code. A submission whose number
is in the gradebook need not be graded again.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError
from autograder.files import IGNORED, is_ignored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autograder.course.course import Course
    from autograder.course.settings import Settings

PACKAGE = Path(__file__).resolve().parents[1]
CHECKS = "checks"
_SHOWING = {"pages", "templates", "lms", "gradebook", "commands", "cli"}
"""Parts of the kit that show or store results and do not make them."""
_RUNNING = ("numpy", "ipython", "matplotlib", "nh3")
"""Packages whose version can change what student code gives or what is kept of it."""
_NOT_RESULTS = {"jobs", "course_id", "db_url", "late_penalty"}
"""Settings that change no result."""
_MAX_DEPTH = 20


class Fingerprints:
    """
    The fingerprints of an assignment's submissions.

    What they have in common is read once, when this is made.

    Parameters
    ----------
    course : Course
        The course.
    settings : Settings
        The settings in force.
    assignment : str
        An assignment of the course.

    Raises
    ------
    OperatorError
        If the course's secret cannot be used.
    """

    def __init__(self, course: Course, settings: Settings, assignment: str) -> None:
        self._course = course
        self._assignment = assignment
        self._ignored = course.layout.ignored
        common = hashlib.sha256()
        for part in (*_engine(), *_settings(settings)):
            _add(common, part.encode())
        _add(common, hashlib.sha256(course.secret()).digest())
        folders = (
            course.source(assignment),
            course.release(assignment),
            PACKAGE / CHECKS / assignment,
            course.solutions / "reference",
            course.solutions / "misconceptions" / assignment,
        )
        for folder in folders:
            _add(common, b"folder")
            # An instructor's file may be a link into a shared folder; a student's is no file.
            _add_files(common, _files(folder, self._ignored, follow=True), follow=True)
        # Tests that nbgrader wrote itself are in none of them; what is hidden, the configuration says.
        for part in _handed_out(course, assignment):
            _add(common, part.encode("utf-8", "surrogateescape"))
        _add(common, b"kit")
        _add_files(common, _kit())
        self._common = common

    def of(self, student: str) -> str:
        """
        Return the fingerprint of a student's submission as it is now.

        Parameters
        ----------
        student : str
            The student's id.

        Returns
        -------
        str
            64 hexadecimal digits.

        Raises
        ------
        SubmissionError
            If a file or folder of it cannot be read.
        """
        one = self._common.copy()
        _add(one, student.encode("utf-8", "surrogateescape"))
        folder = self._course.submitted(student, self._assignment)
        try:
            # A file that any part of the grader looks at counts, and so does a link that stands for one.
            _add_files(one, _files(folder, IGNORED, self._ignored))
        except OSError as error:
            where, what = error.filename or folder, f"cannot be read ({error.strerror})"
            raise SubmissionError(where, what, "Check its rights.") from None
        return one.hexdigest()


def _engine() -> Iterator[str]:
    yield sys.version
    for name in _RUNNING:
        yield version(name)


def _settings(settings: Settings) -> Iterator[str]:
    for one in fields(settings):
        if one.name not in _NOT_RESULTS:
            yield f"{one.name}={getattr(settings, one.name)!r}"


def _handed_out(course: Course, assignment: str) -> Iterator[str]:
    """Yield what is graded of each cell, and which files of students count."""
    for book in course.released(assignment):
        yield book.name
        yield repr(book.rules)
        yield from (cell.source for cell in book.layout)
    yield repr(sorted(course.layout.own_files.get(assignment, ())))
    yield repr(course.layout.ignored)


def _kit() -> Iterator[tuple[str, Path]]:
    """Yield the modules that make results, but no assignment's checks."""
    for name, path in _files(PACKAGE):
        parts = Path(name).parts
        is_check = parts[0] == CHECKS and len(parts) > len((CHECKS, "module"))
        if path.suffix == ".py" and parts[0] not in _SHOWING and not is_check:
            yield name, path


def _files(folder: Path, *ignored: Iterable[str], follow: bool = False) -> Iterator[tuple[str, Path]]:
    """
    Yield the files below a folder with their names in it, in order.

    Left out is what each of some lists of patterns ignores. Of folders, links
    are yielded as such, unless they are followed.
    """
    patterns = ignored or (IGNORED,)
    waiting = [(str(folder), "", 0)] if folder.is_dir() else []
    while waiting:
        place, prefix, depth = waiting.pop()
        with os.scandir(place) as entries:
            inside = sorted(
                (entry for entry in entries if not all(is_ignored(entry.name, one) for one in patterns)),
                key=lambda entry: entry.name,
            )
        for entry in inside:
            name = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if depth < _MAX_DEPTH:
                    waiting.append((entry.path, f"{name}/", depth + 1))
            elif entry.is_file(follow_symlinks=follow) or (entry.is_symlink() and not follow):
                yield name, Path(entry.path)


def _add_files(total: hashlib._Hash, files: Iterable[tuple[str, Path]], *, follow: bool = False) -> None:
    for name, path in files:
        _add(total, name.encode("utf-8", "surrogateescape"))
        if path.is_symlink() and not follow:
            _add(total, b"link " + os.fsencode(path.readlink()))
            continue
        with path.open("rb", buffering=0) as file:
            _add(total, hashlib.file_digest(file, hashlib.sha256).digest())


def _add(total: hashlib._Hash, part: bytes) -> None:
    # With its length, so that no two lists of parts look alike.
    total.update(len(part).to_bytes(8, "big"))
    total.update(part)
