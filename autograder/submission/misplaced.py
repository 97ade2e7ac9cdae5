"""Work that was handed in, and lies where no grader looks for it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from autograder.course.layout import Step
from autograder.files import is_ignored
from autograder.submission.handed_in import by_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autograder.course.course import Course

_ALIKE = 0.8
_STUDENT, _ASSIGNMENT = "<student>", "<assignment>"
_MAX_ENTRIES = 100_000
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Misplaced:
    """
    Work that is not graded, because of where it lies.

    Parameters
    ----------
    student : str
        The student's id, as the folder says it; empty if there is no such folder.
    where : str
        The folder or file, from the course folder.
    what : str
        What is wrong with its place, a phrase without a full stop.
    remedy : str
        What to do, one sentence.
    """

    student: str
    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """Return it as a line."""
        return f"{self.where}: {self.what}. {self.remedy}"


def misplaced(course: Course, assignment: str) -> list[Misplaced]:
    """
    Return what seems to be handed in for an assignment, but lies in a wrong place.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.

    Returns
    -------
    list of Misplaced
        By folder: notebooks right in a student's folder, in one that is nearly
        called as the assignment, in nobody's, or in folders the other way
        round. Files are not opened.

    Raises
    ------
    CourseError
        If there is no such assignment.
    """
    course.check_assignment(assignment)
    place = _Place.of(course, assignment)
    if place is None:
        return []
    found = []
    if place.loose(place.parent):
        remedy = f"Put each into {place.right('<student>')}."
        where, what = place.shown(place.parent), "notebooks of nobody lie in it"
        found.append(Misplaced(student="", where=where, what=what, remedy=remedy))
    for folder in _folders(place.parent):
        found += place.by_student(folder) if place.student_first else place.by_assignment(folder)
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """Where submissions of an assignment are looked for, and what their folders are called."""

    course: Course
    assignment: str
    parent: Path
    student_first: bool
    names: tuple[str, ...]
    others: frozenset[str]

    @classmethod
    def of(cls, course: Course, assignment: str) -> _Place | None:
        """Return the place; None if the course's own layout has more folders than those two."""
        pattern = course.layout.shown(Step.SUBMITTED)
        last = pattern.parts[-2:]
        if set(last) != {_STUDENT, _ASSIGNMENT}:
            return None
        return cls(
            course,
            assignment,
            pattern.parents[1],
            last[0] == _STUDENT,
            tuple(path.stem for path in course.source(assignment).glob("*.ipynb")),
            frozenset(name for name in course.assignments() if name != assignment),
        )

    def shown(self, path: Path) -> str:
        """Return a path as it is told: from the course, if it lies in it."""
        return (path.relative_to(self.course.root) if self.course.root in path.parents else path).as_posix()

    def right(self, student: str) -> str:
        """Return where a student's work belongs."""
        first, last = (student, self.assignment) if self.student_first else (self.assignment, student)
        return self.shown(self.parent / first / last)

    def loose(self, folder: Path) -> list[str]:
        """Return the files right in a folder that are called as notebooks of the assignment, more or less."""
        files = (path.name for path in _inside(folder) if path.suffix == ".ipynb" and path.is_file())
        return sorted(name for name in files if by_name(name, self.names))

    def by_student(self, folder: Path) -> Iterator[Misplaced]:
        """Yield what is misplaced in a folder that should be a student's."""
        if folder.name == self.assignment:
            yield from self._turned_around(folder)
            return
        for inner in _folders(folder):
            if self._is_nearly(inner):
                there = (folder / self.assignment).is_dir()
                right = self.right(folder.name)
                yield Misplaced(
                    student=folder.name,
                    where=self.shown(inner),
                    what=f"the folder is not called {self.assignment}, so it is not graded",
                    remedy=f"Move what counts into {right}." if there else f"Rename it to {right}.",
                )
        if loose := self.loose(folder):
            yield Misplaced(
                student=folder.name,
                where=self.shown(folder),
                what=f"{', '.join(loose[:_NAMED])} lies right in the student's folder, so it is not graded",
                remedy=f"Move it into {self.right(folder.name)}.",
            )

    def by_assignment(self, folder: Path) -> Iterator[Misplaced]:
        """Yield what is misplaced in a folder that should be an assignment's."""
        if folder.name == self.assignment:
            if loose := self.loose(folder):
                what = f"{', '.join(loose[:_NAMED])} is in no student's folder, so it is not graded"
                remedy = f"Move it into {self.right('<student>')}."
                yield Misplaced(student="", where=self.shown(folder), what=what, remedy=remedy)
        elif self._is_nearly(folder):
            what = f"the folder is not called {self.assignment}, so nothing in it is graded"
            remedy = f"Move what counts into {self.shown(self.parent / self.assignment)}."
            yield Misplaced(student="", where=self.shown(folder), what=what, remedy=remedy)
        elif folder.name not in self.others and _has_notebooks(folder / self.assignment):
            yield self._other_way_round(folder.name, folder / self.assignment)

    def _turned_around(self, folder: Path) -> Iterator[Misplaced]:
        for inner in _folders(folder):
            if inner.name != self.assignment and _has_notebooks(inner):
                yield self._other_way_round(inner.name, inner)

    def _other_way_round(self, student: str, folder: Path) -> Misplaced:
        first = "students" if self.student_first else "assignments"
        return Misplaced(
            student=student,
            where=self.shown(folder),
            what=f"the folders of {first} come first, so it is not graded",
            remedy=f"Move it to {self.right(student)}.",
        )

    def _is_nearly(self, folder: Path) -> bool:
        known = folder.name == self.assignment or folder.name in self.others
        return not known and _is_near(folder.name, self.assignment)


def _is_near(name: str, assignment: str) -> bool:
    """Tell whether a folder's name is the assignment's with a slip in it; numbers are no slips."""
    if by_name(name, [assignment]):
        return True
    if re.findall(r"\d+", name) != re.findall(r"\d+", assignment):
        return False
    one, other = ("".join(re.findall(r"\w", text.casefold().replace("_", ""))) for text in (name, assignment))
    return difflib.SequenceMatcher(None, one[:100], other[:100]).ratio() >= _ALIKE


def _has_notebooks(folder: Path) -> bool:
    return any(path.suffix == ".ipynb" for path in _inside(folder))


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in _inside(parent) if path.is_dir())


def _inside(folder: Path) -> list[Path]:
    """Return what lies in a folder and is neither a link nor ignored; nothing if it cannot be read."""
    try:
        entries = islice(folder.iterdir(), _MAX_ENTRIES)
        return [path for path in entries if not path.is_symlink() and not is_ignored(path.name)]
    except OSError:
        return []
