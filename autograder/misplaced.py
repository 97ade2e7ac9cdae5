"""Work that lies in `submitted/` where no grader looks for it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from autograder.files import is_ignored
from autograder.handed_in import by_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autograder.course import Course

_ALIKE = 0.8
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
        By folder: notebooks right in a student's folder, in a folder that is
        nearly called as the assignment, or right in ``submitted/``, and
        ``submitted/<assignment>/<student>``. Files are not opened.

    Raises
    ------
    CourseError
        If there is no such assignment.
    """
    course.check_assignment(assignment)
    submitted = course.root / "submitted"
    names = [path.stem for path in course.source(assignment).glob("*.ipynb")]
    others = {name for name in course.assignments() if name != assignment}
    found = []
    if _notebooks(submitted, names):
        remedy = f"Put each into submitted/<student>/{assignment}/."
        found.append(
            Misplaced(student="", where="submitted", what="notebooks of nobody lie in it", remedy=remedy)
        )
    for folder in _folders(submitted):
        if folder.name == assignment:
            found += _turned_around(folder, assignment)
        else:
            found += _in_folder(folder, assignment, names, others)
    return found


def _in_folder(folder: Path, assignment: str, names: list[str], others: set[str]) -> Iterator[Misplaced]:
    """Yield what is misplaced in one student's folder."""
    right = f"submitted/{folder.name}/{assignment}"
    for inner in _folders(folder):
        if inner.name != assignment and inner.name not in others and _is_near(inner.name, assignment):
            there = (folder / assignment).is_dir()
            yield Misplaced(
                student=folder.name,
                where=f"submitted/{folder.name}/{inner.name}",
                what=f"the folder is not called {assignment}, so it is not graded",
                remedy=f"Move what counts into {right}." if there else f"Rename it to {right}.",
            )
    if loose := _notebooks(folder, names):
        yield Misplaced(
            student=folder.name,
            where=f"submitted/{folder.name}",
            what=f"{', '.join(loose[:_NAMED])} lies right in the student's folder, so it is not graded",
            remedy=f"Move it into {right}.",
        )


def _turned_around(folder: Path, assignment: str) -> Iterator[Misplaced]:
    """Yield folders of students in a folder of the assignment."""
    for inner in _folders(folder):
        if inner.name != assignment and any(path.suffix == ".ipynb" for path in _inside(inner)):
            yield Misplaced(
                student=inner.name,
                where=f"submitted/{assignment}/{inner.name}",
                what="folders of students come first",
                remedy=f"Move it to submitted/{inner.name}/{assignment}.",
            )


def _is_near(name: str, assignment: str) -> bool:
    """Tell whether a folder's name is the assignment's with a slip in it; numbers are no slips."""
    if by_name(name, [assignment]):
        return True
    if re.findall(r"\d+", name) != re.findall(r"\d+", assignment):
        return False
    one, other = ("".join(re.findall(r"\w", text.casefold().replace("_", ""))) for text in (name, assignment))
    return difflib.SequenceMatcher(None, one[:100], other[:100]).ratio() >= _ALIKE


def _notebooks(folder: Path, names: list[str]) -> list[str]:
    """Return the files right in a folder that are called as notebooks of the assignment, more or less."""
    files = (path.name for path in _inside(folder) if path.suffix == ".ipynb" and path.is_file())
    return sorted(name for name in files if by_name(name, names))


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in _inside(parent) if path.is_dir())


def _inside(folder: Path) -> list[Path]:
    """Return what lies in a folder and is neither a link nor ignored; nothing if it cannot be read."""
    try:
        entries = islice(folder.iterdir(), _MAX_ENTRIES)
        return [path for path in entries if not path.is_symlink() and not is_ignored(path.name)]
    except OSError:
        return []
