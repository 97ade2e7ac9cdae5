"""
Where a course keeps what: the folders that nbgrader's settings name.

Every path is the one that nbgrader's own ``CourseDirectory.format_path``
gives. Names of assignments and students come from folders and command lines,
and become parts of paths only after they were checked to be plain names.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.files import Beside
from autograder.terminal import printable, short

if TYPE_CHECKING:
    from collections.abc import Mapping

STRUCTURE = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")  # noqa: PTH118 - as nbgrader's
FIELDS = ("nbgrader_step", "student_id", "assignment_id")
NOBODY = "."
"""The student that nbgrader puts into the paths of sources and releases."""

_NAME_BYTES, _SHOWN = 255, 80
"""The longest name of a folder that disks take, and how much of a longer one is shown."""

_WANTED = "\0"
"""Stands in a path for the name that is looked for; no name can hold it."""


class Step(StrEnum):
    """What nbgrader makes one after the other, each in folders of its own."""

    SOURCE = "source"
    RELEASE = "release"
    SUBMITTED = "submitted"
    AUTOGRADED = "autograded"
    FEEDBACK = "feedback"
    SOLUTION = "solution"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """
    Where a course keeps what.

    Parameters
    ----------
    root : Path
        The course; absolute.
    structure : str
        The way from it to a submission, with nbgrader's fields in it.
    folders : mapping of Step to str
        The folder of each step.
    excluded : frozenset of str
        Ids of students who are left out.
    students, notebooks : str
        Patterns of the students and notebooks that count.
    ignored : tuple of str
        Patterns of the files beside notebooks that do not count.
    own_files : mapping of str to frozenset of str
        By assignment the files beside notebooks of which the student's version counts.
    """

    root: Path
    structure: str
    folders: Mapping[Step, str]
    excluded: frozenset[str] = frozenset()
    students: str = "*"
    notebooks: str = "*"
    ignored: tuple[str, ...] = ()
    own_files: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def path(self, step: Step, assignment: str, student: str = NOBODY) -> Path:
        """
        Return a folder of an assignment.

        Parameters
        ----------
        step : Step
            What is in it.
        assignment : str
            The assignment.
        student : str
            Whose; a source, a release or a solution is nobody's.

        Returns
        -------
        Path
            The folder that nbgrader would use; it need not exist.

        Raises
        ------
        CourseError
            If a name could lead elsewhere.
        """
        plain_name(assignment)
        if student != NOBODY or step in {Step.SUBMITTED, Step.AUTOGRADED, Step.FEEDBACK}:
            plain_name(student)
        return self._path(step, assignment, student)

    def shown(self, step: Step, assignment: str = "<assignment>") -> Path:
        """Return where a step's folders of students are, with ``<student>`` in it, for a message."""
        return self._path(step, assignment, "<student>")

    def parent(self, step: Step) -> Path:
        """Return the folder in which the assignments of a step are looked for."""
        return _split(self._path(step, _WANTED, NOBODY))[0]

    def assignments_in(self, step: Step) -> list[str]:
        """Return the names of the assignments that have a folder of a step, sorted."""
        return _found(self._path(step, _WANTED, NOBODY))

    def students_in(self, step: Step, assignment: str) -> list[str]:
        """
        Return the ids of the students who have a folder of a step, sorted.

        Parameters
        ----------
        step : Step
            ``SUBMITTED``, ``AUTOGRADED`` or ``FEEDBACK``.
        assignment : str
            The assignment.

        Returns
        -------
        list of str
            Ids of those who count.
        """
        found = _found(self._path(step, plain_name(assignment), _WANTED))
        return [one for one in found if one not in self.excluded and fnmatchcase(one, self.students)]

    def beside(self, student: str, assignment: str, *folders: Path) -> tuple[Beside, ...]:
        """
        Return where the files beside a student's notebooks are, the ones that win last.

        Parameters
        ----------
        student, assignment : str
            Whose submission of what.
        *folders : Path
            Folders of the submission whose files lie beside one of the notebooks.

        Returns
        -------
        tuple of Beside
            What was handed in, then the assignment's source, without what
            ``Autograde.exclude_overwriting`` leaves to students.
        """
        theirs = dict.fromkeys((self.path(Step.SUBMITTED, assignment, student), *folders))
        own = self.own_files.get(assignment, frozenset())
        source = Beside(self.path(Step.SOURCE, assignment), self.ignored, own)
        return (*(Beside(folder, self.ignored) for folder in theirs), source)

    @property
    def is_own(self) -> bool:
        """True if it is not nbgrader's usual one."""
        usual = {step: step.value for step in Step if step is not Step.SOLUTION}
        own = {step: folder for step, folder in self.folders.items() if step in usual}
        return self.structure != STRUCTURE or own != usual

    @property
    def guarded(self) -> tuple[Path, ...]:
        """The folders that student code must not reach: the course, and what it keeps elsewhere."""
        parents = (self.parent(step) for step in Step)
        outside = (parent for parent in parents if self.root not in (parent, *parent.parents))
        return (self.root, *dict.fromkeys(outside))

    def is_linked(self, student: str, assignment: str) -> bool:
        """Tell whether a student's submission is reached through a link that could lead to another's."""
        inside, *_ = _split(self._path(Step.SUBMITTED, assignment, _WANTED))
        path = self.path(Step.SUBMITTED, assignment, student)
        return any(one.is_symlink() for one in (path, *path.parents) if inside in one.parents)

    def _path(self, step: Step, assignment: str, student: str) -> Path:
        names = {"nbgrader_step": self.folders[step], "student_id": student, "assignment_id": assignment}
        return Path(os.path.join(self.root, self.structure.format(**names)))  # noqa: PTH118 - as nbgrader does


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
        If it is empty, is hidden, is too long for a disk, could leave its folder, or
        holds what nobody sees: a terminal and a person would take it for another.
    """
    if not _is_plain(name):
        remedy = "Use a short name without slashes and without letters that cannot be seen."
        raise CourseError(repr(short(name, _SHOWN)), "cannot be the name of a folder", remedy)
    return name


def structure_problem(structure: str) -> str:
    """
    Return what is wrong with a directory structure; empty if nothing is.

    Parameters
    ----------
    structure : str
        nbgrader's format string.

    Returns
    -------
    str
        The end of a sentence.
    """
    try:
        parts = list(Formatter().parse(structure))
    except ValueError as problem:
        return f"is no format string ({problem})"
    fields = [name for _, name, _, _ in parts if name is not None]
    for name in fields:
        if name not in FIELDS:
            return f"has a field {{{name}}}, which is not one of {', '.join(FIELDS)}"
    if any(spec or conversion for _, name, spec, conversion in parts if name is not None):
        return "formats its fields; names have to stand as they are"
    if missing := [name for name in FIELDS if name not in fields]:
        return f"has no field {{{missing[0]}}}"
    return ""


def _is_plain(name: str) -> bool:
    has_place = bool(name) and not name.startswith(".") and not any(sign in name for sign in ("/", "\\"))
    return has_place and printable(name) == name and len(name.encode()) <= _NAME_BYTES


def _split(path: Path) -> tuple[Path, str, tuple[str, ...]]:
    """Return a path's part before the folder with the wanted name, that folder, and the rest."""
    at = next(number for number, part in enumerate(path.parts) if _WANTED in part)
    return Path(*path.parts[:at]), path.parts[at], path.parts[at + 1 :]


def _found(path: Path) -> list[str]:
    """Return the plain names that make a path one of a folder, after one look at its parent."""
    parent, wanted, rest = _split(path)
    first, *others = map(re.escape, wanted.split(_WANTED))
    # The name may stand in it more than once, and is the same everywhere.
    pattern = re.compile(first + "(?P<name>.+)" + "(?P=name)".join(others), re.DOTALL)
    try:
        entries = list(os.scandir(parent))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        raise CourseError(parent, f"cannot be read ({problem.strerror})", "Check its rights.") from None
    names = []
    for entry in entries:
        match = pattern.fullmatch(entry.name)
        if match is None or not _is_plain(match["name"]) or not entry.is_dir():
            continue
        inside = [part.replace(_WANTED, match["name"]) for part in rest]
        if not inside or os.path.isdir(os.path.join(entry.path, *inside)):  # noqa: PTH112, PTH118 - thousands
            names.append(match["name"])
    return sorted(names)
