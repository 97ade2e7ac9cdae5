"""Courses that nbgrader made itself, in which nothing is configured for the kit."""

from __future__ import annotations

import shutil
import sqlite3
import warnings
from contextlib import chdir, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.configuration import read_config
from autograder.course.course import Course
from autograder.course.released import checksum
from autograder.notebook import read_notebook, write_notebook
from autograder.sandbox.wall import Tier, probe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.course.rules import Rules
    from autograder.notebook import Cell, Notebook

ROOT = Path(__file__).parent.parent
PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
TABLES = ("grade_cells", "task_cells", "solution_cells", "base_cell", "source_cell", "notebook", "assignment")


def cell(kind: str, name: str, source: str, points: float | None = None, **metadata: Any) -> Cell:
    """
    Return a cell as the assignment view of JupyterLab leaves it.

    Kinds are ``text``, ``code``, ``solution``, ``test``, ``readonly``,
    ``answer`` and ``task``.
    """
    flags = {
        "solution": {"solution": True},
        "test": {"grade": True, "locked": True},
        "readonly": {"locked": True},
        "answer": {"grade": True, "solution": True},
        "task": {"task": True, "locked": True},
    }.get(kind)
    nbgrader: dict[str, Any] = {"grade": False, "solution": False, "locked": False, "task": False}
    if flags is not None:
        nbgrader |= flags | {"grade_id": name, "schema_version": 3}
        nbgrader |= {"points": points} if points is not None else {}
        metadata["nbgrader"] = nbgrader
    is_text = kind in {"text", "answer", "task"}
    made: Cell = {"cell_type": "markdown" if is_text else "code", "source": source, "metadata": metadata}
    return (
        made
        | {"id": name or f"c{abs(hash(source)) % 10**8}"}
        | ({} if is_text else {"outputs": [], "execution_count": None})
    )


def notebook(cells: Iterable[Cell], metadata: Mapping[str, Any] = PYTHON) -> Notebook:
    """Return a notebook."""
    return {"cells": list(cells), "metadata": dict(metadata), "nbformat": 4, "nbformat_minor": 5}


def make_course(
    root: Path, books: Mapping[str, Notebook], *settings: str, assignment: str = "ps1", source: str = ""
) -> Course:
    """
    Make a course as its instructor would, with nothing of the kit's in its configuration.

    Parameters
    ----------
    root : Path
        A new folder.
    books : mapping of str to dict
        Instructor notebooks of the assignment.
    *settings : str
        Lines of ``nbgrader_config.py``.
    assignment : str
        The assignment.
    source : str
        The folder of its notebooks, if it is not ``source/<assignment>``.

    Returns
    -------
    Course
        The course, not released.
    """
    folder = root / (source or f"source/{assignment}")
    folder.mkdir(parents=True)
    for name, book in books.items():
        write_notebook(folder / f"{name}.ipynb", book)
    lines = ["c = get_config()", *settings]
    if probe().tier is Tier.C:
        lines.append("c.Autograder.unsafe_no_sandbox = True")
    (root / "nbgrader_config.py").write_text("\n".join((*lines, "")), encoding="utf-8")
    return Course.find(root)


def release_with_nbgrader(course: Course, assignment: str = "ps1") -> None:
    """Run what `nbgrader generate_assignment` runs, in the course."""
    with warnings.catch_warnings(), chdir(course.root):
        warnings.simplefilter("ignore")
        _generate(course, assignment)


def _generate(course: Course, assignment: str) -> None:
    from nbgrader.converters import GenerateAssignment  # noqa: PLC0415 - it takes seconds
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415 - the same
    from traitlets.config.loader import PyFileConfigLoader  # noqa: PLC0415 - the same

    if course.db_url.startswith("sqlite"):
        _make_gradebook(Path(course.db_url.removeprefix("sqlite:///")))
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course.root)).load_config()
    config.CourseDirectory.assignment_id = assignment
    directory = CourseDirectory(config=config)
    converter = GenerateAssignment(coursedir=directory, config=config)
    converter.force = True
    converter.start()


def autograde_with_nbgrader(course: Course, assignment: str = "ps1", **flags: Any) -> None:
    """Run what `nbgrader autograde` runs, in the course, with flags such as ``db_url``."""
    with warnings.catch_warnings(), chdir(course.root):
        warnings.simplefilter("ignore")
        from nbgrader.converters import Autograde  # noqa: PLC0415 - it takes seconds
        from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415 - the same

        config = read_config(course.root)
        config.CourseDirectory.update({"assignment_id": assignment, **flags})
        Autograde(coursedir=CourseDirectory(config=config), config=config).start()


def release_quickly(course: Course, assignment: str = "ps1") -> None:
    """
    Leave what nbgrader leaves of a course without settings.

    nbgrader commits for every cell, which takes seconds for hundreds of them;
    `check_release` tells whether this is as good.
    """
    path = Path(course.db_url.removeprefix("sqlite:///"))
    _make_gradebook(path)
    course.release(assignment).mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO course VALUES ('quick')")
        connection.execute("INSERT INTO assignment VALUES ('a', ?, NULL, 'quick')", (assignment,))
        for number, file in enumerate(sorted(course.source(assignment).glob("*.ipynb"))):
            book = read_notebook(file)
            key = f"n{number}"
            connection.execute("INSERT INTO notebook VALUES (?, ?, 'a', '{}')", (key, file.stem))
            for one in book["cells"]:
                _release_cell(connection, key, one, course.rules)
            write_notebook(course.release(assignment) / file.name, book)


def _release_cell(connection: sqlite3.Connection, book: str, one: Cell, rules: Rules) -> None:
    flags = one["metadata"].get("nbgrader")
    if flags is None:
        return
    stored, name = rules.stored(one), flags["grade_id"]
    one["source"] = rules.visible(stored)
    locked, key = not flags["solution"], f"{book}.{name}"
    row = (key, name, one["cell_type"], locked, stored, checksum(one | {"source": stored}), book)
    connection.execute("INSERT INTO source_cell VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    for flag, kind, table in (
        ("grade", "GradeCell", "grade_cells"),
        ("solution", "SolutionCell", "solution_cells"),
        ("task", "TaskCell", "task_cells"),
    ):
        if flags[flag]:
            own = f"{key}.{flag}"
            connection.execute("INSERT INTO base_cell VALUES (?, ?, ?, ?)", (own, name, book, kind))
            values = (own,) if flag == "solution" else (own, flags["points"], one["cell_type"])
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608 - our own names


def _make_gradebook(path: Path) -> None:
    """Make an empty gradebook of nbgrader's; it would take seconds to start alembic for it."""
    if path.is_file():
        return
    shutil.copyfile(ROOT / "gradebook.db", path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in (*TABLES, "course"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own


def hand_in(course: Course, student: str, answers: Mapping[str, str], assignment: str = "ps1") -> Path:
    """
    Hand in the released notebooks with some cells filled in.

    Parameters
    ----------
    course : Course
        The course, released.
    student : str
        Who.
    answers : mapping of str to str
        By grade_id, or by notebook and grade_id with a dot, the source of a cell.
    assignment : str
        The assignment.

    Returns
    -------
    Path
        The folder of the submission.
    """
    folder = course.submitted(student, assignment)
    folder.mkdir(parents=True)
    for path in course.release(assignment).glob("*.ipynb"):
        book = read_notebook(path)
        for one in book["cells"]:
            name = one["metadata"].get("nbgrader", {}).get("grade_id", "")
            one["source"] = answers.get(f"{path.stem}.{name}", answers.get(name, one["source"]))
        write_notebook(folder / path.name, book)
    return folder


def nbgrader_files() -> Path:
    """Return the folder of files of nbgrader's own tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import nbgrader  # noqa: PLC0415 - it takes seconds

    return Path(nbgrader.__file__).parent / "tests/apps/files"
