"""Of which assignment something is: told by the names of notebooks, in archives too, and by their cells."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import ExitStack
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from autograder.course.released import grade_id_of
from autograder.errors import AutograderError, CourseError, SubmissionError
from autograder.lms.archive import open_inner
from autograder.lms.archive.limits import INNER, Meter
from autograder.lms.archive.opening import PACKED
from autograder.lms.downloads.levels import WORK, levels
from autograder.notebook import read_notebook
from autograder.submission.handed_in import by_name
from autograder.terminal import some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from autograder.lms.archive import OpenArchive
    from autograder.lms.collecting.handed import Handed
    from autograder.lms.downloads.model import Entry

_NOTEBOOK = ".ipynb"
_SHOWN = 4
_PARSED_BYTES = 32 * 2**20
"""A misnamed notebook larger than this is not looked into."""


def votes(
    archives: Iterable[OpenArchive[Any]], notebooks: Mapping[str, Sequence[str]]
) -> tuple[Counter[str], int]:
    """
    Return how many students' parts of some downloads have notebooks of which assignment.

    Parameters
    ----------
    archives : iterable of OpenArchive
        The downloads.
    notebooks : mapping of str to sequence of str
        By assignment the names of its notebooks, without suffix.

    Returns
    -------
    votes : Counter of str
        By assignment; a part that has notebooks of two counts for both.
    parts : int
        How many there are with something that may have been handed in.
    """
    patterns = {one: _pattern(names) for one, names in notebooks.items() if names}
    found, parts = Counter[str](), 0
    for archive in archives:
        for entries in _parts(archive):
            parts += 1
            found.update(
                _fitting([entry.name for entry in entries], patterns) or _packed(archive, entries, patterns)
            )
    return found, parts


def _parts(archive: OpenArchive[Any]) -> list[list[Entry]]:
    """Return the entries of each student, as far as the names that an LMS gives tell."""
    parts: list[list[Entry]] = []
    for level in levels(archive.entries):
        parts = [
            entries
            for name, entries in level.units().items()
            if name.endswith("/") or any(entry.name.lower().endswith(WORK) for entry in entries)
        ]
        if len(parts) > 1:
            break
    return parts


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, names))
    return re.compile(rf"(?:.*[/_])?(?:{either})(?:-\d+)?\.ipynb", re.DOTALL)


def _fitting(names: Collection[str], patterns: Mapping[str, re.Pattern[str]]) -> set[str]:
    return {one for one, pattern in patterns.items() if any(map(pattern.fullmatch, names))}


def _packed(
    archive: OpenArchive[Any], entries: Iterable[Entry], patterns: Mapping[str, re.Pattern[str]]
) -> set[str]:
    """Return of which assignments there are notebooks in the archives of a student."""
    names: list[str] = []
    for entry in entries:
        if entry.name.lower().endswith(PACKED):
            with ExitStack() as to_close:
                try:
                    # What is looked at takes no room from what is read.
                    inner = to_close.enter_context(open_inner(archive, entry, meter=Meter(INNER)))
                except SubmissionError:
                    continue
                names += (one.name for one in inner.entries)
    return _fitting(names, patterns)


# --------------------------------------------------------- anything expected


def check_expected(
    handed: Mapping[str, Sequence[Handed]], assignment: str, source: Path, notebooks: Sequence[str]
) -> None:
    """
    Refuse what is of another assignment, all of it.

    Parameters
    ----------
    handed : mapping of str to sequence of Handed
        By student all attempts, read.
    assignment : str
        The assignment.
    source : Path
        The folder of its source.
    notebooks : sequence of str
        Names of its notebooks, without suffix; if there are none, anything will do.

    Raises
    ------
    CourseError
        If no file is a notebook of the assignment, by its name or its cells.
    """
    attempts = [one for attempts in handed.values() for one in attempts]
    paths = [file.path for one in attempts for file in one.collected.files]
    if not (paths and notebooks) or any(_is_called(path, notebooks) for path in paths):
        return
    marks = {mark for name in notebooks for mark in _marks_of(source / f"{name}{_NOTEBOOK}")}
    if any(_has_cells(one, marks) for one in attempts):
        return
    there = Counter(PurePosixPath(path).name for path in paths)
    names = [f"{name} ({count} times)" if count > 1 else name for name, count in there.most_common()]
    what = f"nobody handed in a notebook of {assignment}; in it are {some(names, _SHOWN)}"
    remedy = "Name the assignment that it is of. If it counts all the same: --force."
    raise CourseError("collect", what, remedy)


def _is_called(path: str, notebooks: Sequence[str]) -> bool:
    name = PurePosixPath(path).name
    return _NOTEBOOK in name.lower() and bool(by_name(name, notebooks))


def _marks_of(path: Path) -> set[str]:
    try:
        return _marks(read_notebook(path)["cells"])
    except AutograderError:
        return set()


def _has_cells(one: Handed, marks: set[str]) -> bool:
    """Return whether anything in an attempt has cells of the assignment."""
    try:
        return any(bool(marks & _marks(_cells(content.data))) for content in one.reading().contents())
    except SubmissionError:
        return False


def _cells(data: bytes) -> object:
    """Return the cells of what may be a notebook."""
    if len(data) > _PARSED_BYTES or not data.lstrip().startswith(b"{"):
        return None
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return told.get("cells")


def _marks(cells: object) -> set[str]:
    """Return what tells the cells of a notebook from those of others."""
    known = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    ids = (cell.get("id") for cell in known)
    return {one for one in (*map(grade_id_of, known), *ids) if isinstance(one, str) and one}
