"""
A notebook's visible tests, run as the grader will run its cells.

For students before they hand in, and for authors: no hidden check, reference
or course is needed. nbgrader's own validation runs in the user's process, and
its exit code tells nothing.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from autograder.course import Course
from autograder.errors import CourseError, NotebookError
from autograder.notebook import read_notebook
from autograder.released import checksum, grade_id_of, strip_hidden
from autograder.rules import CODE_STUBS, PYTHON, TEXT_STUB
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import launched
from autograder.sandbox.session import CodeCell, NotebookSession
from autograder.sandbox.zygote import Origin
from autograder.settings import load_settings
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from autograder.notebook import Cell, Notebook
    from autograder.sandbox.process import Worker
    from autograder.sandbox.sandbox import Sandbox
    from autograder.settings import Settings

    Outputs = list[dict[str, Any]]

STUBS = {"code": CODE_STUBS[PYTHON].split("\n"), "markdown": TEXT_STUB.split("\n")}

# A student's text may look like a frame; numbers of thousands of digits are none.
_FRAME = re.compile(r"Cell In\[([0-9]{1,6})\], line ([0-9]{1,6})\b")
_ENDED = {"LimitReached", "WorkerDied", "OutputCut"}
_TOO_LONG = "It took too long and was stopped. Is there a loop that never ends?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    How one cell went.

    Parameters
    ----------
    cell : str
        Its grade_id; of a cell without one its place, as "cell 7".
    passed : bool
        True if it ran to its end.
    message : str
        What was wrong, in plain words; empty if nothing.
    error : str
        Class of the exception; empty if there was none.
    line : int or None
        Line of the cell at which it stopped.
    """

    cell: str
    passed: bool
    message: str = ""
    error: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """
    What was found in one notebook.

    Parameters
    ----------
    notebook : str
        Its path, as it was given.
    tests : tuple of Finding
        Its test cells, in order.
    raised : tuple of Finding
        The other cells that raised.
    unanswered : tuple of str
        Names of the cells that are still as they were handed out.
    changed : tuple of str
        Names of the test cells whose text is not the one handed out.
    """

    notebook: str
    tests: tuple[Finding, ...]
    raised: tuple[Finding, ...]
    unanswered: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """True if all test cells pass."""
        return all(test.passed for test in self.tests)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return asdict(self) | {"passed": self.passed}


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
        One for each notebook.

    Raises
    ------
    NotebookError
        If a notebook cannot be read.
    CourseError
        If a notebook has no test cell.
    SandboxError
        If code cannot be run here.
    """
    notebooks = {path: read_notebook(path, error=NotebookError) for path in paths}
    for path, notebook in notebooks.items():
        _check(path, notebook)
    settings = _settings(paths[0], unsafe_no_sandbox=unsafe_no_sandbox)
    limits = Limits.of(settings)
    with launched(settings, secrets=()) as sandbox:
        return [_validated(sandbox, path, notebook, limits) for path, notebook in notebooks.items()]


def print_validation(validation: Validation) -> None:
    """
    Print what was found in a notebook, for its author.

    Parameters
    ----------
    validation : Validation
        What was found.
    """
    passed, total = sum(test.passed for test in validation.tests), len(validation.tests)
    head = f"{validation.notebook}: {passed} of {total} test cells pass"
    click.secho(printable(head), fg="green" if validation.passed else "red")
    for line in _lines(validation):
        click.echo(printable(line))


def _lines(validation: Validation) -> Iterator[str]:
    """Yield what is told below the head, names and messages as students wrote them."""
    for test in validation.tests:
        yield f"  {'✓' if test.passed else '✗'} {test.cell}"
        if test.message:
            yield f"      {test.message}"
    for name in validation.unanswered:
        yield f"  {name} is not filled in yet."
    for name in validation.changed:
        yield f"  {name} is not as it was handed out; for grading it is put back."
    for cell in validation.raised:
        yield f"  {cell.cell} stops with an error; the cells after it are run all the same."
        yield f"      {cell.message}"


def _check(path: Path, notebook: Notebook) -> None:
    """Refuse a notebook in which there is nothing to validate."""
    for number, cell in enumerate(notebook["cells"], start=1):
        if not isinstance(cell, dict) or not isinstance(cell.get("source"), str):
            what = f"its cell {number} is damaged"
            raise NotebookError(path, what, "Open it in Jupyter and save it again.")
    if not any(map(_is_test, notebook["cells"])):
        what = "it has no test cell"
        raise CourseError(path, what, "Is it one of the notebooks that were handed out?")


def _settings(path: Path, *, unsafe_no_sandbox: bool) -> Settings:
    """Return the settings of the course that a notebook lies in, or those of a course that sets nothing."""
    flags = {"unsafe_no_sandbox": unsafe_no_sandbox or None}
    course = Course.around(path.absolute())
    return course.settings(**flags) if course is not None else load_settings(path.absolute().parent, **flags)


def _validated(sandbox: Sandbox, path: Path, notebook: Notebook, limits: Limits) -> Validation:
    code = [cell for cell in notebook["cells"] if cell.get("cell_type") == "code"]
    outputs = _run(sandbox, path, [strip_hidden(cell["source"]) for cell in code], limits)
    names = _names(notebook, code)
    findings = [_finding(index, names, code, shown, outputs) for index, shown in enumerate(outputs)]
    blank = [grade_id_of(cell) for cell in notebook["cells"] if _is_unanswered(cell)]
    tested = list(zip(code, findings, strict=True))
    others = (finding for cell, finding in tested if not _is_test(cell))
    return Validation(
        notebook=str(path),
        tests=tuple(finding for cell, finding in tested if _is_test(cell)),
        raised=tuple(one for one in others if not (one.passed or one.cell in blank)),
        unanswered=tuple(blank),
        changed=tuple(grade_id_of(cell) for cell in code if _is_test(cell) and _is_changed(cell)),
    )


def _run(sandbox: Sandbox, path: Path, sources: list[str], limits: Limits) -> list[Outputs]:
    origin = Origin.of(sources)

    def start() -> Worker:
        return sandbox.start(limits, files=(path.absolute().parent,), origin=origin)

    with NotebookSession(start, [CodeCell(source) for source in sources], limits) as session:
        return session.run()


def _finding(
    index: int, names: list[str], code: list[Cell], shown: Outputs, outputs: list[Outputs]
) -> Finding:
    """Return how a cell went, from what it has shown."""
    errors = [output for output in shown if output["output_type"] == "error"]
    if not errors:
        return Finding(cell=names[index], passed=True)
    name, said = errors[0]["ename"], " ".join(errors[0]["evalue"].split())
    frames = [(int(cell), int(line)) for cell, line in _FRAME.findall("\n".join(errors[0]["traceback"]))]
    line = frames[0][1] if frames else None
    where = _raised_in(index, frames, names, code, outputs)
    message = f"{name}: {said}" if said else name
    if name == "WallTimeExceeded":
        message = _TOO_LONG
    elif name in _ENDED:
        message = f"{said[:1].upper()}{said[1:]}." if said else f"{name}."
    elif name == "AssertionError":
        message = said or f"This does not hold: {_line(code[index], line)}"
    elif name == "NotImplementedError" and where:
        message = f"{where} is not filled in yet."
    elif where:
        message += f" (in {where}, line {frames[-1][1]})"
    elif line is not None:
        message += f" (line {line})"
    return Finding(cell=names[index], passed=False, message=message, error=name, line=line)


def _raised_in(
    index: int, frames: list[tuple[int, int]], names: list[str], code: list[Cell], outputs: list[Outputs]
) -> str:
    """Return the name of the other cell in which an exception was raised; empty if it is not known."""
    if not frames or any(output.get("ename") in _ENDED for shown in outputs for output in shown):
        # A process that was started again counts its cells anew.
        return ""
    # Cells with nothing in them are not counted.
    counted = [place for place, cell in enumerate(code) if strip_hidden(cell["source"]).strip()]
    place = counted[frames[-1][0] - 1] if 0 < frames[-1][0] <= len(counted) else index
    return names[place] if place != index else ""


def _names(notebook: Notebook, code: list[Cell]) -> list[str]:
    """Return what to call each code cell: its grade_id, else its place in the notebook."""
    places = {id(cell): number for number, cell in enumerate(notebook["cells"], start=1)}
    return [grade_id_of(cell) or f"cell {places[id(cell)]}" for cell in code]


def _line(cell: Cell, number: int | None) -> str:
    lines = strip_hidden(cell["source"]).split("\n")
    return lines[number - 1].strip() if number is not None and 0 < number <= len(lines) else "an assert"


def _flags(cell: Cell) -> dict[str, Any]:
    flags: dict[str, Any] = cell["metadata"]["nbgrader"] if grade_id_of(cell) else {}
    return flags


def _is_test(cell: Cell) -> bool:
    flags = _flags(cell)
    return cell.get("cell_type") == "code" and bool(flags.get("grade")) and not flags.get("solution")


def _is_unanswered(cell: Cell) -> bool:
    """Tell whether the stub that was handed out still stands in a cell."""
    kind = cell.get("cell_type")
    if kind not in list(STUBS):
        # Raw cells have no stub; a damaged cell's type may be anything, even a list.
        return False
    stub = STUBS[kind]
    lines = [line.strip() for line in cell["source"].split("\n")]
    places = range(len(lines) - len(stub) + 1)
    return bool(_flags(cell).get("solution")) and any(lines[at : at + len(stub)] == stub for at in places)


def _is_changed(cell: Cell) -> bool:
    """Tell whether a test cell's text is not the one its checksum was made of; only releases have one."""
    told = _flags(cell).get("checksum")
    if not isinstance(told, str) or "points" not in _flags(cell):
        return False
    try:
        return told != checksum(cell)
    except (TypeError, ValueError, OverflowError):
        # Points that are no number were never handed out.
        return True
