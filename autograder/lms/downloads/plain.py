"""A plain folder or zip: a folder for each student, or files that begin with the student's id or name."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from autograder.lms.downloads.model import Download, Left
from autograder.lms.downloads.owners import common_folders, owners
from autograder.lms.downloads.trees import Folders
from autograder.lms.model import Lms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.lms.downloads.model import Archive, Context

SURE = 0.5
"""Never surer than this: a folder for each student is what others have too."""

_FILES = (".ipynb", ".zip")
"""What may lie in nobody's folder."""
_ARCHIVES = (".zip", ".tar", ".tgz")


def fits(archive: Archive) -> float:
    """
    Return how sure it is that a download is plain.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    float
        Half the share of the entries that lie in a folder, or are notebooks or archives.
    """
    names = [PurePosixPath(entry.name) for entry in archive.entries]
    fitting = sum(len(name.parts) > 1 or name.suffix.lower() in _FILES for name in names)
    return SURE * fitting / len(names) if names else 0.0


def read(archive: Archive, context: Context) -> Download:
    """
    Understand a plain folder.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in, and what.

    Returns
    -------
    Download
        One attempt for each student's folder, and one for the files that begin with the student.
    """
    folders = Folders(archive, context)
    start = _start(archive, context)
    for entry in archive.entries:
        parts = entry.name.split("/")
        named, *inside = parts[start:]
        if inside:
            depth = start + 1
            if inside[0] == context.assignment and len(inside) > 1:
                inside, depth = inside[1:], depth + 1
            folders.add(named, "/".join(parts[:depth]), "/".join(inside), entry)
            continue
        whose = dict.fromkeys(_students(named, context))
        if len(whose) == 1:
            ((student, path),) = whose
            folders.add(student, student, path, entry)
        else:
            folders.left.append(Left(name=entry.name, reason=_reason([student for student, _ in whose])))
    attempts = tuple(folders.attempts())
    return Download(lms=Lms.PLAIN, attempts=attempts, left=tuple(folders.left))


def _start(archive: Archive, context: Context) -> int:
    """Return how many folders stand around those of the students."""
    common = common_folders(archive.entries)
    # If all is one student's, the student's folder stands around it too.
    known = (place for place, part in enumerate(common) if owners(context.people, part))
    return next(known, len(common))


def _students(name: str, context: Context) -> Iterator[tuple[str, str]]:
    """Yield whose a file may be by its name, and what it is then called in the submission's folder."""
    path = PurePosixPath(name)
    if path.suffix.lower() not in {*_FILES, *_ARCHIVES}:
        return
    wanted = [f"_{notebook}" for notebook in context.notebooks if path.suffix.lower() == ".ipynb"]
    for ending in wanted:
        if path.stem.endswith(ending) and owners(context.people, student := path.stem.removesuffix(ending)):
            yield student, f"{ending[1:]}.ipynb"
    if owners(context.people, path.stem):
        # Which notebook it is, its cells say.
        yield path.stem, name


def _reason(students: list[str]) -> str:
    if students:
        shown = " or ".join(students)
        return f"It can be a file of {shown}. Put it into a folder called by the student's id."
    return (
        "It is no file <student>_<notebook>.ipynb of anybody in the course. "
        "Put it into a folder called by the student's id if it counts, or name a roster with --roster."
    )
