"""
What was handed out: the cells of a released notebook and their hidden tests.

A released cell carries the instructor's source of everything that is locked,
and the stub of everything that students write, so that no solution travels
with the records a grader uses.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from autograder.course.rules import Rules
from autograder.errors import NotebookError, nearest
from autograder.results import CellResult, NotebookResult, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.notebook import Cell, Notebook


STOCK = Rules()


# ------------------------------------------------------------ hidden tests


def strip_hidden(source: str, rules: Rules = STOCK) -> str:
    """Return a cell's source without hidden tests and mark scheme; an open region hides the rest."""
    return rules.visible(source)


def hidden_check(source: str, rules: Rules = STOCK) -> str | None:
    """Return the name that a cell's hidden tests give to `run_checks`, or None."""
    return rules.hidden_check(source)


# ---------------------------------------------------------- released cells


class Kind(StrEnum):
    """What a cell with nbgrader metadata is for."""

    TEST = "test"
    """Graded by its hidden checks; locked."""
    MANUAL = "manual"
    """An answer that a person grades."""
    TASK = "task"
    """A task that a person grades, answered in other cells; locked."""
    SOLUTION = "solution"
    """Code that students write, graded by test cells."""
    READONLY = "readonly"
    """Given text or code; locked."""
    PLAIN = "plain"
    """No nbgrader metadata: nobody holds on to it."""

    @property
    def locked(self) -> bool:
        """True if students do not write in it."""
        return self in {Kind.TEST, Kind.TASK, Kind.READONLY}

    @property
    def graded(self) -> bool:
        """True if it is worth points."""
        return self is Kind.TEST or self.manual

    @property
    def manual(self) -> bool:
        """True if a person grades it."""
        return self in {Kind.MANUAL, Kind.TASK}


# A plain cell can be changed by anybody: given is only what still has this source.
_GIVEN = {Kind.READONLY, Kind.PLAIN}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedCell:
    """
    A cell of a released notebook, as it is graded and as it was handed out.

    Parameters
    ----------
    grade_id : str
        Its name in the notebook; empty for a plain cell.
    kind : Kind
        What it is for.
    cell_type : str
        ``code``, ``markdown`` or ``raw``.
    points : Decimal
        What it is worth; 0 if it is not graded.
    source : str
        What is graded: of a locked cell the instructor's source, hidden tests
        included; of a solution cell the stub. Never a solution.
    released : str
        The source that students got.
    checksum : str
        nbgrader's checksum of `source`.
    cell_id : str
        The cell's id in the released notebook; may be empty.
    metadata : mapping
        The metadata of the released cell.
    rules : Rules
        What marks its hidden tests.
    """

    grade_id: str
    kind: Kind
    cell_type: str
    points: Decimal
    source: str
    released: str
    checksum: str
    cell_id: str
    metadata: Mapping[str, Any]
    rules: Rules = STOCK

    @property
    def hidden_check(self) -> str | None:
        """Name of the cell's hidden checks, or None."""
        return hidden_check(self.source, self.rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedNotebook:
    """
    A notebook as it was handed out, together with its hidden tests.

    Parameters
    ----------
    name : str
        Its name without suffix.
    layout : tuple of ReleasedCell
        All cells in order, plain ones included.
    metadata : mapping
        Metadata of the notebook: kernel and language.
    rules : Rules
        What it was made by.
    """

    name: str
    layout: tuple[ReleasedCell, ...]
    metadata: Mapping[str, Any]
    rules: Rules = STOCK

    @property
    def cells(self) -> tuple[ReleasedCell, ...]:
        """The cells with nbgrader metadata, in order."""
        return tuple(cell for cell in self.layout if cell.kind is not Kind.PLAIN)

    @property
    def graded(self) -> tuple[ReleasedCell, ...]:
        """The cells that are worth points, in order."""
        return tuple(cell for cell in self.layout if cell.kind.graded)

    @property
    def given(self) -> tuple[str, ...]:
        """Sources of the first code cells, up to one that students write or that is graded."""
        code = (cell for cell in self.layout if cell.cell_type == "code")
        return tuple(cell.source for cell in takewhile(lambda cell: cell.kind in _GIVEN, code))

    @property
    def max_score(self) -> Decimal:
        """Points of all its cells."""
        return sum((cell.points for cell in self.graded), Decimal(0))

    def cell(self, grade_id: str) -> ReleasedCell:
        """
        Return the cell of a name.

        Raises
        ------
        NotebookError
            If there is none; it offers the nearest name.
        """
        for cell in self.cells:
            if cell.grade_id == grade_id:
                return cell
        names = [cell.grade_id for cell in self.cells]
        raise NotebookError(self.name, f"has no cell {grade_id!r}", nearest(grade_id, names))

    def not_handed_in(self) -> NotebookResult:
        """Return the result of a student who did not hand it in: 0 in every graded cell."""
        cells = tuple(
            CellResult(
                grade_id=cell.grade_id,
                max_score=cell.points,
                manual=cell.kind.manual,
                answered=not cell.kind.manual,
            )
            for cell in self.graded
        )
        return NotebookResult(name=self.name, status=Status.MISSING, cells=cells)


def kind_of(nbgrader: Mapping[str, Any]) -> Kind:
    """Return what a cell with this nbgrader metadata is for."""
    if nbgrader.get("task"):
        return Kind.TASK
    if nbgrader.get("grade"):
        return Kind.MANUAL if nbgrader.get("solution") else Kind.TEST
    if nbgrader.get("solution"):
        return Kind.SOLUTION
    return Kind.READONLY if nbgrader.get("locked") else Kind.PLAIN


def grade_id_of(cell: object) -> str:
    """Return the grade_id in a cell's metadata, or an empty string; trusts nothing."""
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata"), dict):
        return ""
    nbgrader = cell["metadata"].get("nbgrader")
    if not isinstance(nbgrader, dict) or kind_of(nbgrader) is Kind.PLAIN:
        return ""
    grade_id = nbgrader.get("grade_id")
    return grade_id if isinstance(grade_id, str) else ""


def checksum(cell: Cell) -> str:
    """Return nbgrader's checksum of a cell: of its source, type, flags, name and points."""
    nbgrader = cell["metadata"]["nbgrader"]
    grade, solution = bool(nbgrader.get("grade")), bool(nbgrader.get("solution"))
    locked = not solution and (grade or bool(nbgrader.get("locked")))
    parts = [cell["source"], cell["cell_type"], str(grade), str(solution), str(locked), nbgrader["grade_id"]]
    if grade:
        parts.append(str(float(nbgrader["points"])))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def unanswered(notebook: Notebook, released: ReleasedNotebook) -> frozenset[str]:
    """
    Return the solution cells that a student left as they were handed out.

    Parameters
    ----------
    notebook : dict
        A repaired notebook.
    released : ReleasedNotebook
        The notebook it was made from.

    Returns
    -------
    frozenset of str
        Their grade_ids; an answer graded by hand is among them if untouched.
    """
    stubs = {cell.grade_id: cell.released for cell in released.cells if not cell.kind.locked}
    return frozenset(
        grade_id
        for cell in notebook["cells"]
        if (grade_id := grade_id_of(cell)) in stubs and cell["source"] == stubs[grade_id]
    )


def stub(source: str, cell_type: str, rules: Rules = STOCK) -> str:
    """
    Return what nbgrader leaves of a solution cell for students.

    Parameters
    ----------
    source : str
        The instructor's source.
    cell_type : str
        ``code`` or ``markdown``.
    rules : Rules
        What marks a solution, and what stands in its place.

    Returns
    -------
    str
        The source with every solution region replaced, at its indentation; a
        cell without a region is replaced whole.
    """
    return rules.stub(source, cell_type)
