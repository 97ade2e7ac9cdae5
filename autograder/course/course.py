"""
A course on disk: its folders, its assignments, and who handed in what.

Which folders they are is nbgrader's to say, see `autograder.course.layout`.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.configuration import CONFIG_FILE, Stamps, config_stamps, merged, read_file
from autograder.course.handout import released_notebook
from autograder.course.layout import Layout, Step
from autograder.course.nbgrader_settings import (
    CourseDirectory,
    course_db_url,
    course_layout,
    course_rules,
    layout_of,
    rules_of,
    told,
)
from autograder.course.secret import course_secret
from autograder.course.settings import Settings, check_config, load_settings, settings_of
from autograder.course.timestamps import read_timestamp
from autograder.errors import (
    CourseError,
    NotebookError,
    ReleaseError,
    SubmissionError,
    nearest,
)
from autograder.notebook import read_notebook

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from traitlets.config import Config

    from autograder.course.released import ReleasedNotebook
    from autograder.course.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """
    A course folder, laid out as its configuration tells nbgrader.

    Parameters
    ----------
    root : Path
        The course, as nbgrader's ``CourseDirectory.root``; absolute. By
        default it holds ``nbgrader_config.py``.
    config_dir : Path, optional
        Another folder whose ``nbgrader_config.py`` names this course.
    given : Config, optional
        The configuration where somebody else has read it: nbgrader, with the
        flags of its command line. By default that in the files.
    """

    root: Path
    config_dir: Path | None = None
    given: Config | None = field(default=None, compare=False, repr=False)

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
            if (folder / CONFIG_FILE).is_file() and (course := cls._told_in(folder)) is not None:
                check_config(merged(course.stamps), folder / CONFIG_FILE)
                return course
        what = f"is no course: it has no {CONFIG_FILE} beside a folder source"
        raise CourseError(start, what, "Change into the course folder, or name it with --course-dir.")

    @classmethod
    def around(cls, path: Path) -> Course | None:
        """
        Return the course that a file lies in.

        Parameters
        ----------
        path : Path
            The file; absolute.

        Returns
        -------
        Course or None
            The nearest course above it, if there is one.

        Raises
        ------
        ConfigError
            If its configuration cannot be run.
        """
        folders = (folder for folder in path.parents if (folder / CONFIG_FILE).is_file())
        return next((course for folder in folders if (course := cls._told_in(folder)) is not None), None)

    @classmethod
    def _told_in(cls, folder: Path) -> Course | None:
        """Return the course that the configuration in a folder speaks of, if its sources are there."""
        where = folder / CONFIG_FILE
        elsewhere = told(CourseDirectory, read_file(folder), where=where).root
        root = (folder / elsewhere).resolve() if elsewhere else folder
        course = cls(root=root, config_dir=None if root == folder else folder)
        return course if course.layout.parent(Step.SOURCE).is_dir() else None

    @property
    def stamps(self) -> Stamps:
        """The files of its configuration, as they are now."""
        return config_stamps(self.root, self.config_dir)

    @property
    def config(self) -> Config:
        """Its configuration; not to be changed."""
        return merged(self.stamps) if self.given is None else self.given

    @property
    def layout(self) -> Layout:
        """Where it keeps what."""
        if self.given is not None:
            return layout_of(self.root, self.given)
        return course_layout(self.root, self.stamps)

    @property
    def rules(self) -> Rules:
        """What its releases are made by."""
        return course_rules(self.stamps) if self.given is None else rules_of(self.given)

    def settings(self, **flags: Any) -> Settings:
        """
        Return the settings in force.

        Parameters
        ----------
        **flags : Any
            Settings from the command line; None means not given.

        Returns
        -------
        Settings
            As of `load_settings`, which says what is raised.
        """
        if self.given is not None:
            return settings_of(self.root, deepcopy(self.given), **flags)
        return load_settings(self.root, self.config_dir, **flags)

    @property
    def gradebook(self) -> Path:
        """The gradebook's file, unless the course's `db_url` says otherwise."""
        return self.root / "gradebook.db"

    @property
    def db_url(self) -> str:
        """SQLAlchemy address of the gradebook, from ``c.CourseDirectory.db_url``."""
        return course_db_url(self.root, self.config)

    @property
    def solutions(self) -> Path:
        """The folder of references, alternatives and misconceptions."""
        return self.root / "solutions"

    @property
    def exports(self) -> Path:
        """The folder of files for other programs."""
        return self.root / "exports"

    def source(self, assignment: str) -> Path:
        """Return the folder of the instructor's notebooks of an assignment."""
        return self.layout.path(Step.SOURCE, assignment)

    def release(self, assignment: str) -> Path:
        """Return the folder of what students get."""
        return self.layout.path(Step.RELEASE, assignment)

    def solution(self, assignment: str) -> Path:
        """Return the folder of the solved notebooks, which nbgrader writes."""
        return self.layout.path(Step.SOLUTION, assignment)

    def submitted(self, student: str, assignment: str) -> Path:
        """Return the folder of what a student handed in."""
        return self.layout.path(Step.SUBMITTED, assignment, student)

    def autograded(self, student: str, assignment: str) -> Path:
        """Return the folder of a student's graded notebooks, hidden tests included."""
        return self.layout.path(Step.AUTOGRADED, assignment, student)

    def feedback(self, student: str, assignment: str) -> Path:
        """Return the folder of a student's feedback pages."""
        return self.layout.path(Step.FEEDBACK, assignment, student)

    def assignments(self) -> list[str]:
        """Return the names of the assignments, sorted: folders of sources with a notebook."""
        layout = self.layout
        names = layout.assignments_in(Step.SOURCE)
        return [name for name in names if any(layout.path(Step.SOURCE, name).glob("*.ipynb"))]

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
            where = self.layout.parent(Step.SOURCE)
            raise CourseError(where, f"there is no assignment {assignment!r}", nearest(assignment, known))
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
            Those with a folder of the assignment, without those that the configuration leaves out.

        Raises
        ------
        CourseError
            If there is no such assignment, or nobody handed it in.
        """
        self.check_assignment(assignment)
        students = self.layout.students_in(Step.SUBMITTED, assignment)
        if not students:
            where = self.layout.shown(Step.SUBMITTED, assignment)
            raise CourseError(where, "nothing was handed in", "Put the notebooks there.")
        return students

    def handed_in(self, student: str, assignment: str) -> Path:
        """
        Return the folder of what a student handed in, if it is the student's own.

        Parameters
        ----------
        student, assignment : str
            Whose submission of what.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        CourseError
            If there is none; it offers the nearest name.
        SubmissionError
            If it is reached through a link, which could lead to another student's work.
        """
        folder = self.submitted(student, assignment)
        if not folder.is_dir():
            raise CourseError(folder, "nothing was handed in", nearest(student, self.students(assignment)))
        if self.layout.is_linked(student, assignment):
            raise SubmissionError(
                folder, "is reached through a link", "Replace the link by the folder itself."
            )
        return folder

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
        return read_timestamp(self.submitted(student, assignment))

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
            Sorted by name, those that ``CourseDirectory.notebook_id`` matches;
            read again only after a file has changed.

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
        wanted, folder = self.layout.notebooks, self.release(assignment)
        for source in sorted(self.source(assignment).glob("*.ipynb")):
            if not fnmatchcase(source.stem, wanted):
                continue
            release = folder / source.name
            if not release.is_file():
                what = f"{assignment} has not been released"
                raise ReleaseError(release, what, f"Run `autograder release {assignment}`.")
            stamps = (self.stamps, _stamp(source), _stamp(release))
            notebooks.append(_read_released(self, assignment, source, release, stamps))
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


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


@lru_cache(maxsize=256)
def _read_released(
    course: Course, assignment: str, source: Path, release: Path, _stamps: object
) -> ReleasedNotebook:
    def stored() -> Mapping[str, str]:
        # Few releases need it, and it takes long to import.
        from autograder.course.stored_cells import stored_cells  # noqa: PLC0415

        cells = stored_cells(course.db_url, assignment).get(source.stem, {})
        return {name: cell.source for name, cell in cells.items()}

    return released_notebook(
        source.stem,
        read_notebook(source, error=NotebookError),
        read_notebook(release, error=NotebookError),
        rules=course.rules,
        stored=stored,
    )
