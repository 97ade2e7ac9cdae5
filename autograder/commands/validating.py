"""
A notebook's visible tests, run as the grader will run its cells.

For students before they hand in, and for authors: no hidden check, reference
or course is needed. nbgrader's own validation runs in the user's process, and
its exit code tells nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from autograder.checks.report import number
from autograder.course.course import Course
from autograder.course.released import STOCK, Kind, checksum, grade_id_of
from autograder.course.rules import PYTHON
from autograder.course.settings import load_settings
from autograder.errors import CourseError, NotebookError, nearest
from autograder.explaining import Explainer
from autograder.grader.endings import score_shown
from autograder.notebook import read_submitted
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import launched
from autograder.sandbox.session import CodeCell, NotebookSession
from autograder.sandbox.zygote import Origin
from autograder.submission.handed_in import by_name
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from autograder.course.released import ReleasedNotebook
    from autograder.course.rules import Rules
    from autograder.course.settings import Settings
    from autograder.explaining import Finding, Outputs
    from autograder.notebook import Cell, Notebook
    from autograder.sandbox.process import Worker
    from autograder.sandbox.sandbox import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """
    What was found in one notebook.

    Parameters
    ----------
    notebook : str
        Its path, as it was given.
    problem : str
        Why it cannot be validated, and what to do; empty if it was.
    tests : tuple of Finding
        Its test cells, in order.
    raised : tuple of Finding
        The other cells that raised.
    unanswered : tuple of str
        Names of the cells that are still as they were handed out.
    changed : tuple of str
        Names of the test cells whose text is not the one handed out.
    missing : tuple of str
        Names of the test cells that were handed out and are not there; known
        only inside a course.
    notes : tuple of str
        What else its author should know, in sentences: what was put right to
        read it, and a name that the assignment does not have.
    """

    notebook: str
    problem: str = ""
    tests: tuple[Finding, ...] = ()
    raised: tuple[Finding, ...] = ()
    unanswered: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if all test cells are there and pass."""
        return not self.problem and not self.missing and all(test.passed for test in self.tests)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return asdict(self) | {"passed": self.passed}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """A notebook that could be read, and what is known of it."""

    path: Path
    cells: list[Cell]
    places: dict[int, int]
    """Numbers of the cells in the file, by their `id`."""
    rules: Rules
    released: ReleasedNotebook | None
    notes: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        there = {grade_id_of(cell) for cell in self.cells}
        cells = self.released.cells if self.released is not None else ()
        return tuple(one.grade_id for one in cells if one.kind is Kind.TEST and one.grade_id not in there)


def validate(paths: Sequence[Path], *, unsafe_no_sandbox: bool = False) -> list[Validation]:
    """
    Run the visible tests of notebooks.

    Parameters
    ----------
    paths : sequence of Path
        The notebooks; files beside them are there for their cells.
    unsafe_no_sandbox : bool
        True runs them even where there is no wall for their code.

    Returns
    -------
    list of Validation
        One for each notebook, those that cannot be read included.

    Raises
    ------
    CourseError
        If the course that a notebook lies in is at fault.
    OperatorError
        If the machine fails, or code cannot be run here.
    """
    books = [_opened(path) for path in paths]
    readable = [book for book in books if isinstance(book, _Book)]
    if not readable:
        return [book for book in books if isinstance(book, Validation)]
    settings = _settings(paths[0], unsafe_no_sandbox=unsafe_no_sandbox)
    with launched(settings, secrets=()) as sandbox:
        return [
            book if isinstance(book, Validation) else _validated(sandbox, book, Limits.of(settings))
            for book in books
        ]


def print_validation(validation: Validation) -> None:
    """
    Print what was found in a notebook, for its author.

    Parameters
    ----------
    validation : Validation
        What was found.
    """
    passed, total = sum(test.passed for test in validation.tests), len(validation.tests)
    found = validation.problem or f"{passed} of {total} test cells pass"
    click.secho(printable(f"{validation.notebook}: {found}"), fg="green" if validation.passed else "red")
    for line in _lines(validation):
        click.echo(printable(line))


def _lines(validation: Validation) -> Iterator[str]:
    """Yield what is told below the head, names and messages as students wrote them."""
    broken = [cell for cell in validation.raised if cell.is_no_python]
    yield from (f"  {note}" for note in validation.notes)
    # First: what fails below mostly fails for want of these.
    yield from _cells(broken, "is not Python, so that nothing of it is run.")
    for test in validation.tests:
        yield f"  {'✓' if test.passed else '✗'} {test.cell}"
        yield from [f"      {test.message}"] if test.message else []
    yield from (f"  {name} is not filled in yet." for name in validation.unanswered)
    for name in validation.missing:
        yield f"  {name} is missing, or has lost its metadata; for grading it is put back."
    for name in validation.changed:
        yield f"  {name} is not as it was handed out; for grading it is put back."
    others = [cell for cell in validation.raised if cell not in broken]
    yield from _cells(others, "stops with an error; the cells after it are run all the same.")


def _cells(cells: Sequence[Finding], what: str) -> Iterator[str]:
    for cell in cells:
        yield f"  {cell.cell} {what}"
        yield f"      {cell.message}"


# ----------------------------------------------------- what is to be validated


def _opened(path: Path) -> _Book | Validation:
    """Return a notebook and what was handed out for it, or why it cannot be validated."""
    try:
        notebook, repairs = read_submitted(path, error=NotebookError)
    except NotebookError as error:
        return Validation(notebook=str(path), problem=f"{error.what}. {error.remedy}")
    course = Course.around(path.absolute())
    released, notes = _handed_out(path, course)
    book = _Book(
        path=path,
        cells=[cell for cell in notebook["cells"] if isinstance(cell, dict)],
        places={id(cell): number for number, cell in enumerate(notebook["cells"], start=1)},
        rules=course.rules if course is not None else STOCK,
        released=released,
        notes=(*(f"{one}." for one in repairs), *_lost(notebook), *notes),
    )
    if not any(map(_is_test, book.cells)) and not book.missing:
        problem = "it has no test cell. Is it one of the notebooks that were handed out?"
        return Validation(notebook=str(path), problem=problem, notes=book.notes)
    return book


def _lost(notebook: Notebook) -> Iterator[str]:
    for place, cell in enumerate(notebook["cells"], start=1):
        if not isinstance(cell, dict):
            yield f"cell {place}: it is damaged; left out."


def _handed_out(path: Path, course: Course | None) -> tuple[ReleasedNotebook | None, list[str]]:
    """Return what was handed out for a notebook of a course, and what is to be said of its name."""
    folders = {folder.name for folder in path.absolute().parents}
    assignments = [name for name in course.assignments() if name in folders] if course is not None else []
    if course is None or len(assignments) != 1:
        return None, []
    try:
        released = {book.name: book for book in course.released(assignments[0])}
    except CourseError:
        # Authors validate what is not released yet.
        return None, []
    if path.stem in released:
        return released[path.stem], []
    fitting = by_name(path.name, released)
    remedy = f"Rename it to {min(fitting)}.ipynb." if len(fitting) == 1 else nearest(path.stem, released)
    note = f"{path.name} is no name of a notebook of {assignments[0]}. {remedy}"
    return released[min(fitting)] if len(fitting) == 1 else None, [note]


def _settings(path: Path, *, unsafe_no_sandbox: bool) -> Settings:
    """Return the settings of the course that a notebook lies in, or those of a course that sets nothing."""
    flags = {"unsafe_no_sandbox": unsafe_no_sandbox or None}
    course = Course.around(path.absolute())
    return course.settings(**flags) if course is not None else load_settings(path.absolute().parent, **flags)


# ---------------------------------------------------------------- validating


def _validated(sandbox: Sandbox, book: _Book, limits: Limits) -> Validation:
    code = [cell for cell in book.cells if cell.get("cell_type") == "code"]
    sources = [book.rules.visible(cell["source"]) for cell in code]
    outputs = _run(sandbox, book.path, sources, limits)
    names = [grade_id_of(cell) or f"cell {book.places[id(cell)]}" for cell in code]
    findings = Explainer(names, sources, outputs, limits.wall_time_s).findings()
    blank = [grade_id_of(cell) for cell in book.cells if _is_unanswered(cell, book.rules)]
    findings = [_scored(*one) for one in zip(code, findings, outputs, strict=True)]
    tested = list(zip(code, findings, strict=True))
    others = (finding for cell, finding in tested if not _is_test(cell))
    return Validation(
        notebook=str(book.path),
        tests=tuple(finding for cell, finding in tested if _is_test(cell)),
        raised=tuple(one for one in others if not (one.passed or one.cell in blank)),
        unanswered=tuple(blank),
        changed=tuple(grade_id_of(cell) for cell in code if _is_test(cell) and _is_changed(cell, book)),
        missing=book.missing,
        notes=book.notes,
    )


def _run(sandbox: Sandbox, path: Path, sources: list[str], limits: Limits) -> list[Outputs]:
    origin = Origin.of(sources)

    def start() -> Worker:
        return sandbox.start(limits, files=(path.absolute().parent,), origin=origin)

    with NotebookSession(start, [CodeCell(source) for source in sources], limits) as session:
        return session.run()


def _scored(cell: Cell, finding: Finding, shown: Outputs) -> Finding:
    """Return how a test cell went: one that ends in a part of its points has not passed."""
    try:
        points = Decimal(str(_flags(cell).get("points", 0)))
    except ArithmeticError:
        # Points that are no number were never handed out.
        return finding
    score = score_shown(shown, points) if finding.passed and _is_test(cell) and points.is_finite() else ""
    if isinstance(score, str) or score == points:
        return finding
    message = f"What you see of its tests gives {number(score)} of {number(points)} points."
    return replace(finding, passed=False, message=message)


def _flags(cell: Cell) -> dict[str, Any]:
    flags: dict[str, Any] = cell["metadata"]["nbgrader"] if grade_id_of(cell) else {}
    return flags


def _is_test(cell: Cell) -> bool:
    flags = _flags(cell)
    return cell.get("cell_type") == "code" and bool(flags.get("grade")) and not flags.get("solution")


def _is_unanswered(cell: Cell, rules: Rules) -> bool:
    """Tell whether the stub that was handed out still stands in a cell."""
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown"):
        # Raw cells have no stub; a damaged cell's type may be anything, even a list.
        return False
    text = rules.code_stubs.get(PYTHON, "") if kind == "code" else rules.text_stub
    stub = [line.strip() for line in text.split("\n")]
    lines = [line.strip() for line in cell["source"].split("\n")]
    places = range(len(lines) - len(stub) + 1)
    return bool(_flags(cell).get("solution")) and any(lines[at : at + len(stub)] == stub for at in places)


def _is_changed(cell: Cell, book: _Book) -> bool:
    """Tell whether a test cell's text is not the one handed out, by the release, else by its checksum."""
    handed_out = (
        [one for one in book.released.cells if one.grade_id == grade_id_of(cell)] if book.released else []
    )
    if handed_out:
        return _text(cell["source"], book.rules) != _text(handed_out[0].source, book.rules)
    told = _flags(cell).get("checksum")
    if not isinstance(told, str) or "points" not in _flags(cell):
        return False
    try:
        return told != checksum(cell)
    except (TypeError, ValueError, OverflowError):
        # Points that are no number were never handed out.
        return True


def _text(source: str, rules: Rules) -> list[str]:
    """Return the lines that are compared: hidden tests and blanks at the ends do not count."""
    return [line.rstrip() for line in rules.visible(source).strip().split("\n")]
