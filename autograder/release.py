"""
Building what students get, and telling whether it is up to date.

`build_release` runs nbgrader itself: the release, the solved notebooks and
the gradebook's cells are its products. `check_release` is asked before every
grading, so it compares plain JSON and a few rows, and imports no nbgrader.
"""

from __future__ import annotations

import logging
import math
import os
import re
import shutil
import sysconfig
import tempfile
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import text

from autograder.course.configuration import importable, read_config
from autograder.course.handout import check_notebook, language_of
from autograder.course.released import STOCK, grade_id_of, hidden_check
from autograder.course.stored_cells import StoredCell, gradebook_engine, gradebook_told, stored_cells
from autograder.errors import GradebookError, NotebookError, OperatorError, ReleaseError
from autograder.grader.endings import score_shown
from autograder.notebook import Cell, Notebook, read_notebook, write_notebook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.course.course import Course
    from autograder.course.rules import Rules

FLAGS = ("grade", "solution", "locked", "task", "points", "grade_id")
NO_COURSE = "default_course"
MAY_RAISE = "raises-exception"
"""Jupyter's tag of a cell that is to raise."""
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
    gradebook_engine(course.db_url).dispose()
    built = (course.release(assignment), course.solution(assignment))
    with _kept(*built), _scripts_on_path(), importable(course.root), _quiet_log() as log:
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

    config = read_config(course.root, course.config_dir)
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.db_url = course.db_url
    config.CourseDirectory.assignment_id = assignment
    config.CourseDirectory.notebook_id = "*"
    config.Execute.record_timing = False
    config.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--log-level=40"]
    converter = getattr(converters, step)(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    try:
        with gradebook_told(course.db_url):
            with Gradebook(converter.coursedir.db_url, converter.coursedir.course_id) as gradebook:
                # Solutions are made only of an assignment that is there; its due date stays.
                gradebook.update_or_create_assignment(assignment)
            converter.start()
    except GradebookError:
        raise
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
    engine = gradebook_engine(course.db_url)
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
    rules = course.rules
    for path in sorted(course.solution(assignment).glob("*.ipynb")):
        notebook = read_notebook(path, error=NotebookError)
        for cell in notebook["cells"]:
            cell["metadata"].pop("execution", None)
            _check_solved(path, cell, rules)
        notebook["metadata"] = _stable(notebook["metadata"])
        write_notebook(path, notebook)


def _check_solved(path: Path, cell: Cell, rules: Rules = STOCK) -> None:
    name = grade_id_of(cell) or cell.get("id", "")
    remedy = "Repair the solution or the test in the source notebook, or the points of its checks."
    results = []
    for output in cell.get("outputs", ()):
        if output["output_type"] == "error" and MAY_RAISE not in cell["metadata"].get("tags", ()):
            what = f"the solved cell {name!r} raises {output['ename']}: {output['evalue']}"
            raise ReleaseError(path, what.rstrip("."), remedy)
        if output["output_type"] == "execute_result":
            results.append(output["data"].get("text/plain"))
    flags = cell["metadata"].get("nbgrader", {})
    points = flags.get("points")
    if hidden_check(cell["source"], rules):
        if results != [str(float(points))]:
            earned = ", ".join(map(str, results)) or "nothing"
            raise ReleaseError(path, f"the solution earns {earned} of {points} points in {name!r}", remedy)
    elif flags.get("grade") and not flags.get("solution") and cell["cell_type"] == "code":
        _check_classic(path, name, score_shown(cell["outputs"], Decimal(str(points))), Decimal(str(points)))


def _check_classic(path: Path, name: str, score: Decimal | str, points: Decimal) -> None:
    if isinstance(score, str):
        what, _, remedy = score.partition(". ")
        raise ReleaseError(path, f"in the solved test cell {name!r} {what}", remedy)
    if score != points:
        remedy = "Repair the solution or the test in the source notebook, or the points of the cell."
        raise ReleaseError(path, f"the solution earns {score} of {points} points in {name!r}", remedy)


def _stable(metadata: dict[str, Any]) -> dict[str, Any]:
    language = dict(metadata.get("language_info", {}))
    language.pop("version", None)
    return metadata | {"language_info": language}


# ---------------------------------------------------------------- checking


def check_release(course: Course, assignment: str) -> None:
    """
    Do nothing if students are graded for what they were given.

    Release and gradebook must agree in every cell that nbgrader knows, and
    both must be what the sources would give now. Where nbgrader wrote tests
    itself, or the course has changed its steps, only what can be told is
    compared.

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
    rows = stored_cells(course.db_url, assignment)
    sources = {path.stem: path for path in course.source(assignment).glob("*.ipynb")}
    released = {path.stem: path for path in course.release(assignment).glob("*.ipynb")}
    if not released or not rows:
        raise _release_error(course, assignment, "has not been built")
    if set(sources) != set(released) or not set(rows) <= set(sources):
        raise _release_error(course, assignment, "has other notebooks than its source")
    for name in sorted(sources):
        source, release = (read_notebook(one[name], error=NotebookError) for one in (sources, released))
        for path, notebook in ((sources[name], source), (released[name], release)):
            check_notebook(str(path), notebook)
        pair = _Pair(course, source, release, rows.get(name, {}))
        if not pair.is_source_released():
            raise _release_error(course, assignment, f"is older than its source: {name} has changed")
        if not pair.is_release_stored() or not pair.is_source_stored():
            what = f"is not what the gradebook knows: {name} has changed"
            raise _release_error(course, assignment, what)


def _release_error(course: Course, assignment: str, what: str) -> ReleaseError:
    where = course.release(assignment)
    return ReleaseError(where, f"the release {what}", f"Run `autograder release {assignment}`.")


class _Pair:
    """A notebook as its instructor wrote it and as it was released, and what the gradebook holds of it."""

    def __init__(
        self, course: Course, source: Notebook, release: Notebook, rows: Mapping[str, StoredCell]
    ) -> None:
        self._rules = course.rules
        self._language = language_of(source)
        self._release = release["cells"]
        self._rows = rows
        self._source: list[Cell] = source["cells"]
        if self._rules.is_stock:
            self._source = [*_beside(course, 0), *self._source, *_beside(course, 1)]

    def is_source_released(self) -> bool:
        """Tell whether the release is what nbgrader would make of the source."""
        if not self._rules.is_stock:
            return True
        if len(self._source) != len(self._release):
            return False
        return all(self._gives(*cells) for cells in zip(self._source, self._release, strict=True))

    def is_release_stored(self) -> bool:
        """Tell whether gradebook and release have the same cells."""
        cells = {grade_id: cell for cell in self._release if (grade_id := grade_id_of(cell))}
        return cells.keys() == self._rows.keys() and all(
            self._is_stored(cells[name], row) for name, row in self._rows.items()
        )

    def is_source_stored(self) -> bool:
        """Tell whether the gradebook's hidden tests are those of the source."""
        if not self._rules.is_stock:
            return True
        cells = [cell for cell in self._source if grade_id_of(cell)]
        return all(self._holds(self._rows[grade_id_of(cell)].source, cell) for cell in cells)

    def _gives(self, source: Cell, release: Cell) -> bool:
        """Tell whether nbgrader would make the one of the other."""
        if _face(source) != _face(release):
            return False
        if self._rules.is_instantiated(source):
            return True
        stored = self._rules.stored(source, self._language)
        return bool(self._rules.visible(stored) == release["source"])

    def _is_stored(self, cell: Cell, row: StoredCell) -> bool:
        if row.points != _points(cell["metadata"]["nbgrader"]) or row.cell_type != cell["cell_type"]:
            return False
        return not self._rules.is_stock or bool(self._rules.visible(row.source) == cell["source"])

    def _holds(self, stored: str, source: Cell) -> bool:
        """Tell whether a stored source is that of an instructor's cell."""
        if not self._rules.is_instantiated(source):
            return stored == self._rules.stored(source, self._language)
        # The tests that nbgrader wrote stand between the lines that it left alone.
        lines = iter(stored.split("\n"))
        left = [line for line in source["source"].split("\n") if self._rules.autotest not in line]
        return all(line in lines for line in left)


def _points(nbgrader: Mapping[str, Any]) -> float | None:
    """Return what a cell is worth; None if it is not graded, and no number at all if its points are none."""
    if not (nbgrader.get("grade") or nbgrader.get("task")):
        return None
    try:
        return float(nbgrader.get("points", math.nan))
    except (TypeError, ValueError):
        return math.nan


def _beside(course: Course, place: int) -> list[Cell]:
    """Return the cells that come before or after those of every notebook of a course."""
    path = course.rules.around[place]
    cells: list[Cell] = read_notebook(course.root / path, error=NotebookError)["cells"] if path else []
    return cells


def _face(cell: Cell) -> tuple[Any, ...]:
    nbgrader = cell["metadata"].get("nbgrader", {})
    return (cell["cell_type"], *(nbgrader.get(flag, False) for flag in FLAGS))
