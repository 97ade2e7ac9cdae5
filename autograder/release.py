"""
Building what students get, and telling whether it is up to date.

`build_release` runs nbgrader itself: the release, the solved notebooks and
the gradebook's cells are its products. `check_release` is asked before every
grading, so it compares plain JSON and a few rows, and imports no nbgrader.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sysconfig
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from autograder.errors import GradebookError, NotebookError, OperatorError, ReleaseError
from autograder.notebook import Cell, Notebook, read_notebook, write_notebook
from autograder.released import grade_id_of, hidden_check, strip_hidden, stub
from autograder.settings import read_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from autograder.course import Course

FLAGS = ("grade", "solution", "locked", "task", "points", "grade_id")
GRADEBOOK_CELLS = text("""
    SELECT notebook.name, source_cell.name, source_cell.source,
           COALESCE(grade_cells.max_score, task_cells.max_score)
    FROM assignment
    JOIN notebook ON notebook.assignment_id = assignment.id
    JOIN source_cell ON source_cell.notebook_id = notebook.id
    LEFT JOIN base_cell ON base_cell.notebook_id = notebook.id AND base_cell.name = source_cell.name
        AND base_cell.type IN ('GradeCell', 'TaskCell')
    LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
    LEFT JOIN task_cells ON task_cells.id = base_cell.id
    WHERE assignment.name = :assignment
""")
NO_COURSE = "default_course"
EXCEPTION = re.compile(r"[A-Za-z_][\w.]*: ")


# ---------------------------------------------------------------- building


def build_release(course: Course, assignment: str) -> tuple[Path, ...]:
    """
    Build the release of an assignment, its solved notebooks and its gradebook entries.

    Parameters
    ----------
    course : Course
        The course; its gradebook is created if there is none.
    assignment : str
        An assignment of the course.

    Returns
    -------
    tuple of Path
        The notebooks that students get.

    Raises
    ------
    CourseError
        If there is no such assignment.
    ReleaseError
        If nbgrader cannot build it, or a solved notebook raises or earns too little.
    GradebookError
        If the gradebook cannot be used.
    OperatorError
        If a folder cannot be written.
    """
    course.check_assignment(assignment)
    _engine(course).dispose()
    built = (course.release(assignment), course.solutions / assignment)
    with _kept(*built), _scripts_on_path(), _quiet_log() as log:
        # The solved notebooks come first: what they refuse must reach neither students nor the gradebook.
        _run(course, assignment, "GenerateSolution", log)
        _tidy_solutions(course, assignment)
        _run(course, assignment, "GenerateAssignment", log)
    _forget_default_course(course)
    return tuple(sorted(course.release(assignment).glob("*.ipynb")))


def _run(course: Course, assignment: str, step: str, log: list[str]) -> None:
    # nbgrader takes seconds to import; `check_release` must not pay for it.
    from nbgrader import converters  # noqa: PLC0415
    from nbgrader.api import Gradebook  # noqa: PLC0415
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415

    config = read_config(course.root)
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.assignment_id = assignment
    config.Execute.record_timing = False
    config.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--log-level=40"]
    converter = getattr(converters, step)(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    try:
        with Gradebook(converter.coursedir.db_url, converter.coursedir.course_id) as gradebook:
            # Solutions are made only of an assignment that is there.
            gradebook.update_or_create_assignment(assignment)
        converter.start()
    except SQLAlchemyError as problem:
        raise _gradebook_error(course, problem) from problem
    except (Exception, SystemExit) as problem:
        reason = log[0] if log else f"{type(problem).__name__}: {problem}"
        what = f"nbgrader cannot build {assignment} ({reason})"
        raise ReleaseError(course.source(assignment), what, "Repair what it names.") from problem


@contextmanager
def _scripts_on_path() -> Iterator[None]:
    # A new gradebook needs the alembic program, which is not on the PATH of a
    # virtual environment that nobody activated.
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


@contextmanager
def _kept(*folders: Path) -> Iterator[None]:
    """Put folders back as they were if building them anew fails: nbgrader clears them first."""
    with tempfile.TemporaryDirectory() as scratch:
        copies = {folder: Path(scratch) / str(number) for number, folder in enumerate(folders)}
        for folder, kept in copies.items():
            if folder.is_dir():
                shutil.copytree(folder, kept)
        try:
            yield
        except BaseException:
            for folder, kept in copies.items():
                _put_back(kept, folder)
            raise


def _put_back(kept: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if kept.is_dir():
        try:
            shutil.copytree(kept, folder, dirs_exist_ok=True)
        except OSError as problem:
            raise OperatorError(folder, "cannot be written", "Check rights and space.") from problem


class _Reasons(logging.Handler):
    """Collects why nbgrader failed: the notebook at hand, and the last lines of tracebacks."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.reasons: list[str] = []
        self._notebook = ""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage().strip()
        if message.startswith("Converting notebook"):
            self._notebook = Path(message.split(" ", 2)[2]).name
        elif message.startswith("Traceback"):
            # What follows the line of an exception is more of it, such as a link to its explanation.
            lines = message.splitlines()
            named = [line for line in lines if EXCEPTION.match(line)] or lines
            self.reasons.append(": ".join(filter(None, (self._notebook, named[-1]))))


@contextmanager
def _quiet_log() -> Iterator[list[str]]:
    """Keep nbgrader's log off the screen and return the reasons of failures in it."""
    from traitlets.log import get_logger  # noqa: PLC0415

    handler = _Reasons()
    logger = cast("logging.Logger", get_logger())
    propagate, level, others = logger.propagate, logger.level, logger.handlers
    logger.handlers = [handler]
    logger.propagate = False
    logger.setLevel(logging.INFO)
    try:
        yield handler.reasons
    finally:
        logger.handlers = others
        logger.propagate = propagate
        logger.setLevel(level)


def _forget_default_course(course: Course) -> None:
    # nbgrader's preprocessors open the gradebook without the course's name,
    # which leaves a course that nobody has.
    engine = _engine(course)
    try:
        with engine.begin() as connection:
            connection.execute(
                text(
                    "DELETE FROM course WHERE id = :name AND NOT EXISTS"
                    " (SELECT * FROM assignment WHERE assignment.course_id = course.id)"
                ),
                {"name": NO_COURSE},
            )
    finally:
        engine.dispose()


def _tidy_solutions(course: Course, assignment: str) -> None:
    """Rewrite the solved notebooks without what changes at every build; refuse errors."""
    for path in sorted((course.solutions / assignment).glob("*.ipynb")):
        notebook = read_notebook(path, error=NotebookError)
        for cell in notebook["cells"]:
            cell["metadata"].pop("execution", None)
            _check_solved(path, cell)
        notebook["metadata"] = _stable(notebook["metadata"])
        write_notebook(path, notebook)


def _check_solved(path: Path, cell: Cell) -> None:
    name = grade_id_of(cell) or cell.get("id", "")
    remedy = "Repair the solution or the test in the source notebook, or the points of its checks."
    results = []
    for output in cell.get("outputs", ()):
        if output["output_type"] == "error":
            what = f"the solved cell {name!r} raises {output['ename']}: {output['evalue']}"
            raise ReleaseError(path, what.rstrip("."), remedy)
        if output["output_type"] == "execute_result":
            results.append(output["data"].get("text/plain"))
    points = cell["metadata"].get("nbgrader", {}).get("points")
    if hidden_check(cell["source"]) and results != [str(float(points))]:
        what = (
            f"the solution earns {', '.join(map(str, results)) or 'nothing'} of {points} points in {name!r}"
        )
        raise ReleaseError(path, what, remedy)


def _stable(metadata: dict[str, Any]) -> dict[str, Any]:
    language = dict(metadata.get("language_info", {}))
    language.pop("version", None)
    return metadata | {"language_info": language}


# ---------------------------------------------------------------- checking


def check_release(course: Course, assignment: str) -> None:
    """
    Do nothing if the release of an assignment is what its source would give now.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of the course.

    Raises
    ------
    CourseError
        If there is no such assignment, or a notebook cannot be read.
    ReleaseError
        If the release or its gradebook entries are missing or stale.
    GradebookError
        If the gradebook cannot be read.
    """
    course.check_assignment(assignment)
    rows = _gradebook_cells(course, assignment)
    sources = {path.stem: path for path in course.source(assignment).glob("*.ipynb")}
    released = {path.stem: path for path in course.release(assignment).glob("*.ipynb")}
    if not released or not rows:
        raise _release_error(course, assignment, "has not been built")
    if set(sources) != set(released) or set(sources) != set(rows):
        raise _release_error(course, assignment, "has other notebooks than its source")
    for name in sorted(sources):
        source = read_notebook(sources[name], error=NotebookError)
        expected = [_release_of(cell) for cell in source["cells"]]
        if expected != [_face(cell) for cell in read_notebook(released[name], error=NotebookError)["cells"]]:
            raise _release_error(course, assignment, f"is older than its source: {name} has changed")
        if rows[name] != _rows_of(source):
            what = f"is not what the gradebook knows: {name} has changed"
            raise _release_error(course, assignment, what)


def _release_error(course: Course, assignment: str, what: str) -> ReleaseError:
    where = course.release(assignment)
    return ReleaseError(where, f"the release {what}", f"Run `autograder release {assignment}`.")


def _face(cell: Cell) -> tuple[Any, ...]:
    nbgrader = cell["metadata"].get("nbgrader", {})
    return (cell["cell_type"], cell["source"], *(nbgrader.get(flag, False) for flag in FLAGS))


def _release_of(cell: Cell) -> tuple[Any, ...]:
    nbgrader = cell["metadata"].get("nbgrader", {})
    source = stub(cell["source"], cell["cell_type"]) if nbgrader.get("solution") else cell["source"]
    return _face(cell | {"source": strip_hidden(source)})


def _rows_of(source: Notebook) -> dict[str, tuple[str, float | None]]:
    rows = {}
    for cell in source["cells"]:
        if grade_id := grade_id_of(cell):
            nbgrader = cell["metadata"]["nbgrader"]
            worth = nbgrader.get("grade") or nbgrader.get("task")
            text_ = stub(cell["source"], cell["cell_type"]) if nbgrader.get("solution") else cell["source"]
            rows[grade_id] = (text_, float(nbgrader["points"]) if worth else None)
    return rows


def _gradebook_cells(course: Course, assignment: str) -> dict[str, dict[str, tuple[str, float | None]]]:
    engine = _engine(course)
    if engine.dialect.name == "sqlite" and not Path(engine.url.database or "").is_file():
        # Connecting would make one.
        return {}
    cells: dict[str, dict[str, tuple[str, float | None]]] = {}
    try:
        with engine.connect() as connection:
            rows = connection.execute(GRADEBOOK_CELLS, {"assignment": assignment})
            for notebook, name, source, points in rows:
                cells.setdefault(notebook, {})[name] = (source, points)
    except SQLAlchemyError as problem:
        raise _gradebook_error(course, problem) from problem
    finally:
        engine.dispose()
    return cells


def _engine(course: Course) -> Engine:
    try:
        return create_engine(course.db_url)
    except (ArgumentError, ImportError) as problem:
        # The address is not repeated: it may hold a password.
        what = f"no gradebook can be found by it ({problem})"
        raise GradebookError("CourseDirectory.db_url", what, "Set a database address.") from None


def _gradebook_error(course: Course, problem: SQLAlchemyError) -> GradebookError:
    where = make_url(course.db_url).render_as_string()
    what = f"the gradebook cannot be read ({type(problem).__name__})"
    return GradebookError(where, what, "Check that it is nbgrader's.")
