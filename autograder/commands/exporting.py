"""The command `export`: grades as the file that an LMS imports, and what the LMS will do with it."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from autograder.commands.gathering import Chosen, gather
from autograder.errors import CourseError, OperatorError, nearest
from autograder.lms.exports.kinds import refuse_other_file
from autograder.lms.exports.model import WHOLE, Action, Request
from autograder.lms.grades import WAITS, is_provisional
from autograder.lms.sheets import read_sheet, write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.course.course import Course
    from autograder.lms.exports.model import Export, Format
    from autograder.lms.sheets import Sheet

FORMATS: Mapping[str, str] = {
    "csv": "csv_table",
    "json": "json_text",
    "canvas": "canvas",
    "moodle-worksheet": "moodle_worksheet",
    "moodle-grades": "moodle_grades",
    "blackboard": "blackboard",
    "brightspace": "brightspace",
    "sakai": "sakai",
    "openedx": "openedx",
    "gradescope": "gradescope",
    "oneroster": "oneroster",
}
"""What a command line calls a format, and its module in `autograder.lms.exports`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """
    What a command line asks for.

    Parameters
    ----------
    format : str
        The format, one of `FORMATS`.
    like : Path or None
        The instructor's own export from the LMS.
    title : str
        What the LMS calls the assignment; empty if it is the assignment's name.
    columns : tuple of str
        ``HEADER`` for the whole score, ``NOTEBOOK=HEADER`` for one exercise.
    by_exercise, missing_as_zero, comments : bool
        As of `Request`.
    options : tuple of str
        ``NAME=VALUE``, what a format asks for beyond these.
    chosen : Chosen
        Which grades.
    to : Path or None
        The file, or the folder where the format has several files.
    in_folder : bool
        True if `to` is the folder of the one file, too.
    dry_run : bool
        True to write nothing.
    """

    format: str
    like: Path | None = None
    title: str = ""
    columns: tuple[str, ...] = ()
    by_exercise: bool = False
    missing_as_zero: bool = False
    comments: bool = False
    options: tuple[str, ...] = ()
    chosen: Chosen = field(default_factory=Chosen)
    to: Path | None = None
    in_folder: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """
    What was written, and what it will do.

    Parameters
    ----------
    assignment, format : str
        The assignment and the format.
    path : Path
        The file, or the folder of the files.
    written : bool
        False if it was a dry run.
    export : Export
        The files and their changes.
    names : mapping of str to str
        The students' names, by their ids; those that the gradebook has.
    """

    assignment: str
    format: str
    path: Path
    written: bool
    export: Export
    names: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what machines read."""
        return {
            "assignment": self.assignment,
            "format": self.format,
            "path": str(self.path),
            "written": self.written,
            "nothing_to_upload": self.export.is_empty,
            "files": [file.name for file in self.export.files],
            "changes": [asdict(change) for change in self.export.changes],
            "notes": list(self.export.notes),
        }

    def count(self, action: Action) -> int:
        """Return how many changes are of a kind."""
        return sum(change.action is action for change in self.export.changes)


def export_grades(course: Course, assignment: str, asked: Asked) -> Exported:
    """
    Write an assignment's grades for an LMS.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    asked : Asked
        What is asked for.

    Returns
    -------
    Exported
        What was written, and what the LMS will do with it.

    Raises
    ------
    CourseError
        If what is asked for does not fit the course or the instructor's file.
    AutograderError
        If the gradebook cannot be read or a file not written.
    """
    module = import_module(f"autograder.lms.exports.{FORMATS[asked.format]}")
    notebooks = [book.name for book in course.released(assignment)]
    like = read_sheet(asked.like) if asked.like is not None else None
    if like is not None:
        refuse_other_file(asked.format, like)
    request = Request(
        assignment=assignment,
        title=asked.title or assignment,
        grades=gather(course, assignment, asked.chosen),
        notebooks=tuple(notebooks),
        like=like,
        columns=_columns(asked.columns, notebooks, like),
        by_exercise=asked.by_exercise,
        missing_as_zero=asked.missing_as_zero,
        comments=asked.comments,
        now=datetime.now(UTC),
        options=_options(asked.options, getattr(module, "OPTIONS", {})),
    )
    export = _with_provisional(cast("Format", module.export)(request), request)
    path = asked.to or _default(course, assignment, asked.format, export)
    if asked.to is not None and len(export.files) == 1 and (asked.in_folder or path.is_dir()):
        path /= _default(course, assignment, asked.format, export).name
    if not asked.dry_run:
        _write(path, export, is_ours=asked.to is None)
    return Exported(
        assignment=assignment,
        format=asked.format,
        path=path,
        written=not asked.dry_run,
        export=export,
        names={grade.student: grade.name for grade in request.grades if grade.name},
    )


def _with_provisional(export: Export, request: Request) -> Export:
    """Say of a score that it is only what there is so far."""
    so_far = {grade.student for grade in request.grades if is_provisional(grade)}
    changes = tuple(
        replace(change, reason=f"so far; {WAITS}")
        if change.student in so_far and change.action is Action.APPLIED and not change.reason
        else change
        for change in export.changes
    )
    return replace(export, changes=changes)


def _columns(named: tuple[str, ...], notebooks: list[str], like: Sheet | None) -> dict[str, str]:
    """Return which notebook's scores, or the whole, go under which header."""
    columns: dict[str, str] = {}
    for one in named:
        before, equals, after = one.partition("=")
        if (
            equals
            and before not in notebooks
            and not any(one in cell for cell in (like.header if like else ()))
        ):
            what = f"there is no notebook {before!r}, and no column of your file is called {one!r}"
            remedy = f"The notebooks: {', '.join(notebooks)}. A title that holds = is given with --title."
            raise CourseError("--column", what, remedy)
        # A header may hold the sign itself, so it counts behind the name of a notebook only.
        key, header = (before, after) if equals and before in notebooks else (WHOLE, one)
        if key in columns:
            whose = f"notebook {key!r}" if key else "the whole score"
            what = f"{whose} has two columns, {columns[key]!r} and {header!r}"
            remedy = f"A notebook's column is written NOTEBOOK=HEADER; the notebooks: {', '.join(notebooks)}."
            raise CourseError("--column", what, remedy)
        columns[key] = header
    return columns


def _options(given: tuple[str, ...], known: Mapping[str, str]) -> dict[str, str]:
    options = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise CourseError("--set", f"{one!r} has no value", f"Write it as {name or 'NAME'}=VALUE.")
        if name not in known:
            raise CourseError("--set", f"the format has no option {name!r}", nearest(name, known))
        options[name] = value
    return options


def _default(course: Course, assignment: str, name: str, export: Export) -> Path:
    stem = assignment if name in {"csv", "json"} else f"{assignment}-{name}"
    suffix = PurePosixPath(export.files[0].name).suffix if len(export.files) == 1 else ""
    return course.exports / f"{stem}{suffix}"


def _write(path: Path, export: Export, *, is_ours: bool) -> None:
    """Write the files; a folder of ours holds no file of an earlier export."""
    if len(export.files) == 1:
        write_whole(path, export.files[0].data)
        return
    if path.exists() and not path.is_dir():
        raise CourseError(path, "is a file, but the format has several", "Name a folder.")
    for file in export.files:
        write_whole(path / file.name, file.data)
    if is_ours:
        _remove_others(path, {file.name for file in export.files})


def _remove_others(folder: Path, names: set[str]) -> None:
    kept = {PurePosixPath(name).parts[0] for name in names}
    try:
        for entry in folder.iterdir():
            if entry.name in kept:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    except OSError as error:
        what = f"an earlier export cannot be removed ({error.strerror})"
        raise OperatorError(folder, what, "Remove the folder, and export again.") from None
