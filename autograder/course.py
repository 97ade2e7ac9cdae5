"""
A course on disk: its folders, its assignments, and who handed in what.

Names of assignments and students come from folders and command lines, and
become parts of paths only after they were checked to be plain names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import (
    CourseError,
    NotebookError,
    ReleaseError,
    SubmissionError,
    nearest,
)
from autograder.notebook import read_notebook
from autograder.released import ReleasedNotebook, released_notebook
from autograder.secret import course_secret
from autograder.settings import CONFIG_FILE, check_config, default_db_url, read_config

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

MAX_TIME = 100
"""Characters of a time in a ``timestamp.txt``, which a student may have written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """
    A course folder laid out as nbgrader wants it.

    Parameters
    ----------
    root : Path
        The folder that holds ``nbgrader_config.py`` and ``source/``; absolute.
    """

    root: Path

    @classmethod
    def find(cls, path: Path | None = None) -> Course:
        """
        Return the course that a folder belongs to.

        Parameters
        ----------
        path : Path, optional
            A course folder, or None for the current folder or the nearest
            one above it that is a course.

        Returns
        -------
        Course
            The course.

        Raises
        ------
        CourseError
            If there is no course.
        ConfigError
            If its configuration cannot be run, or asks for what would be ignored.
        """
        start = Path.cwd() if path is None else path.resolve()
        candidates = [start, *start.parents] if path is None else [start]
        for folder in candidates:
            if (folder / CONFIG_FILE).is_file() and (folder / "source").is_dir():
                check_config(folder)
                return cls(root=folder)
        what = f"is no course: it has no {CONFIG_FILE} beside a folder source"
        raise CourseError(start, what, "Change into the course folder, or name it with --course-dir.")

    @property
    def gradebook(self) -> Path:
        """The gradebook's file, unless the course's `db_url` says otherwise."""
        return self.root / "gradebook.db"

    @property
    def db_url(self) -> str:
        """SQLAlchemy address of the gradebook, from ``c.CourseDirectory.db_url``."""
        return str(read_config(self.root).CourseDirectory.get("db_url", "")) or default_db_url(self.root)

    @property
    def solutions(self) -> Path:
        """The folder of references, alternatives, misconceptions and solved notebooks."""
        return self.root / "solutions"

    def source(self, assignment: str) -> Path:
        """Return the folder of the instructor's notebooks of an assignment."""
        return self.root / "source" / plain_name(assignment)

    def release(self, assignment: str) -> Path:
        """Return the folder of what students get."""
        return self.root / "release" / plain_name(assignment)

    def submitted(self, student: str, assignment: str) -> Path:
        """Return the folder of what a student handed in."""
        return self.root / "submitted" / plain_name(student) / plain_name(assignment)

    def autograded(self, student: str, assignment: str) -> Path:
        """Return the folder of a student's graded notebooks, hidden tests included."""
        return self.root / "autograded" / plain_name(student) / plain_name(assignment)

    def feedback(self, student: str, assignment: str) -> Path:
        """Return the folder of a student's feedback pages."""
        return self.root / "feedback" / plain_name(student) / plain_name(assignment)

    def assignments(self) -> list[str]:
        """Return the names of the assignments, sorted: folders of ``source/`` with a notebook."""
        folders = _folders(self.root / "source")
        return [name for name in folders if any((self.root / "source" / name).glob("*.ipynb"))]

    def check_assignment(self, assignment: str) -> str:
        """
        Return the name of an assignment if the course has it.

        Raises
        ------
        CourseError
            If not; it offers the nearest name.
        """
        known = self.assignments()
        if assignment not in known:
            raise CourseError(
                self.root / "source", f"there is no assignment {assignment!r}", nearest(assignment, known)
            )
        return assignment

    def students(self, assignment: str) -> list[str]:
        """
        Return the ids of the students who handed in, sorted.

        Parameters
        ----------
        assignment : str
            An assignment of the course.

        Returns
        -------
        list of str
            Names of folders in ``submitted/`` that hold the assignment.

        Raises
        ------
        CourseError
            If there is no such assignment, or nobody handed it in.
        """
        self.check_assignment(assignment)
        submitted = self.root / "submitted"
        students = [name for name in _folders(submitted) if (submitted / name / assignment).is_dir()]
        if not students:
            where = submitted / "<student>" / assignment
            raise CourseError(where, "nothing was handed in", "Put the notebooks there.")
        return students

    def handed_in_at(self, student: str, assignment: str) -> datetime | None:
        """
        Return when a student handed in, from the ``timestamp.txt`` beside the notebooks.

        Parameters
        ----------
        student, assignment : str
            Whose submission of what.

        Returns
        -------
        datetime or None
            Naive, in UTC, read as nbgrader reads it: formgrader compares the
            two. None if there is no such file or it is empty.

        Raises
        ------
        SubmissionError
            If it cannot be read or holds no time.
        """
        path = self.submitted(student, assignment) / "timestamp.txt"
        if not path.is_file() or path.is_symlink():
            return None
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                words = file.read(MAX_TIME + 1).strip()
        except OSError as problem:
            what = f"cannot be read ({problem.strerror})"
            raise SubmissionError(path, what, "Make it readable, or remove it.") from None
        try:
            return _parse_time(words) if words else None
        except (ValueError, ArithmeticError):
            what = f"holds no time: {words[:40]!r}"
            raise SubmissionError(path, what, "Write it as 2027-01-31 23:59:00 UTC.") from None

    def released(self, assignment: str) -> tuple[ReleasedNotebook, ...]:
        """
        Return the notebooks of an assignment, as graded and as handed out.

        Parameters
        ----------
        assignment : str
            An assignment of the course.

        Returns
        -------
        tuple of ReleasedNotebook
            Sorted by name; read again only after a file has changed.

        Raises
        ------
        CourseError
            If there is no such assignment.
        ReleaseError
            If a notebook of ``source/`` has not been released.
        NotebookError
            If a notebook cannot be used.
        """
        self.check_assignment(assignment)
        notebooks = []
        for source in sorted(self.source(assignment).glob("*.ipynb")):
            release = self.release(assignment) / source.name
            if not release.is_file():
                what = f"{assignment} has not been released"
                raise ReleaseError(release, what, f"Run `autograder release {assignment}`.")
            notebooks.append(_read_released(source, release, (_stamp(source), _stamp(release))))
        return tuple(notebooks)

    def released_notebook(self, assignment: str, name: str) -> ReleasedNotebook:
        """
        Return one notebook of an assignment, as graded and as handed out.

        Raises
        ------
        CourseError
            If there is no such assignment or notebook; it offers the nearest name.
        """
        notebooks = {notebook.name: notebook for notebook in self.released(assignment)}
        if name not in notebooks:
            what = f"there is no notebook {name!r}"
            raise CourseError(self.source(assignment), what, nearest(name, notebooks))
        return notebooks[name]

    def secret(self) -> bytes:
        """Return the secret that seeds the inputs of hidden checks, see `course_secret`."""
        return course_secret(self.root)


def plain_name(name: str) -> str:
    """
    Return a name that may stand for one folder in a path.

    Parameters
    ----------
    name : str
        A student's id or an assignment's name.

    Returns
    -------
    str
        The same name.

    Raises
    ------
    CourseError
        If it is empty, is hidden, or could leave its folder.
    """
    if not name or name.startswith(".") or any(sign in name for sign in ("/", "\\", "\0")):
        raise CourseError(repr(name), "cannot be the name of a folder", "Use a name without slashes.")
    return name


def _parse_time(words: str) -> datetime:
    if len(words) > MAX_TIME:
        msg = "longer than any time"
        raise ValueError(msg)
    from dateutil import parser  # noqa: PLC0415 - it takes long to import, and few folders have a timestamp

    parts = words.split(" ")
    if len(parts) == len(("date", "time", "zone")):
        zone = int(parts[2]) if parts[2].lstrip("+-").isdigit() else _zone(parts[2])
        time: datetime = parser.parse(" ".join([*parts[:2], "TZ"]), tzinfos={"TZ": zone})
    else:
        time = parser.parse(words)
    offset = time.utcoffset()
    return time if offset is None else (time - offset).replace(tzinfo=None)


def _zone(name: str) -> tzinfo | None:
    # dateutil opens a zone that is a path, and a student may have written this one.
    if name.startswith("/") or ".." in name:
        msg = "a zone that is a path"
        raise ValueError(msg)
    from dateutil import tz  # noqa: PLC0415 - as above

    return tz.gettz(name)


def _folders(parent: Path) -> list[str]:
    if not parent.is_dir():
        return []
    return sorted(
        entry.name for entry in parent.iterdir() if entry.is_dir() and not entry.name.startswith(".")
    )


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


@lru_cache(maxsize=256)
def _read_released(source: Path, release: Path, _stamps: object) -> ReleasedNotebook:
    return released_notebook(
        source.stem,
        read_notebook(source, error=NotebookError),
        read_notebook(release, error=NotebookError),
    )
