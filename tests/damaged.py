"""
Damaged submissions: what arrives from students, and what must come of it.

Each case is a function that damages a right submission, made from what the
course hands out. Beside it stands what grading must give: the score of every
cell that is not full, repairs, evidence, and words of the reason if there is
no score.
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handouts import ASSIGNMENT, COURSE

from autograder.course.handout import released_notebook
from autograder.course.released import grade_id_of
from autograder.errors import NotebookError
from autograder.findings import EvidenceKind as E
from autograder.findings import RepairKind as R
from autograder.findings import Severity
from autograder.notebook import dump_notebook, read_notebook, write_notebook
from autograder.results import Status
from autograder.variants import fill, solved_cells
from bench.courses import without_pictures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from autograder.notebook import Cell, Notebook

ONE, TWO, THREE = "exercise1_parameter_count", "exercise2_split_heads", "exercise3_forward"
NAMES = (ONE, TWO, THREE)


def _notebook(folder: Path, name: str) -> Notebook:
    """Read a notebook of the course without what it draws, which costs ten times as much as all the rest."""
    return without_pictures(read_notebook(folder / f"{name}.ipynb", error=NotebookError))


SOURCE = {name: _notebook(COURSE.source(ASSIGNMENT), name) for name in NAMES}
RELEASE = {name: _notebook(COURSE.release(ASSIGNMENT), name) for name in NAMES}
RELEASED = {name: released_notebook(name, SOURCE[name], RELEASE[name]) for name in NAMES}
FULL = {
    ONE: {"test_head_dim": "1", "test_parameter_count": "2", "test_worked_example": "1"},
    TWO: {
        "test_split_heads": "3",
        "test_merge_heads": "2",
        "test_tokens_in_naive_head": "1",
        "explain_reshape_order": "waits",
    },
    THREE: {"test_forward": "6", "test_roundtrip_is_exact": "1", "test_heads_differ": "1"},
}
SOLVED = {name: solved_cells(SOURCE[name]) for name in NAMES}
NOTICE, DOUBT, ATTACK = Severity.NOTICE, Severity.DOUBT, Severity.ATTACK
HEAD_DIM = SOLVED[ONE]["head_dim"]
COUNT = SOLVED[ONE]["parameter_count"]
SINGLE = SOLVED[ONE]["single_head_parameter_count"]
EXAMPLE = SOLVED[ONE]["worked_example"]
SPLIT = SOLVED[TWO]["split_heads"]
MERGE = SOLVED[TWO]["merge_heads"]
LAYER = SOLVED[THREE]["multi_head_attention_class"]


class Submission:
    """
    What a student hands in, to be damaged before it is written.

    Parameters
    ----------
    books : iterable of str
        The notebooks of the assignment that are handed in, solved.
    """

    def __init__(self, books: Iterable[str]) -> None:
        self.books = {name: fill(RELEASE[name], SOLVED[name]) for name in books}
        self.files: dict[str, str | bytes] = {}
        self.names = {name: f"{name}.ipynb" for name in self.books}
        self._ids = random.Random(7)  # noqa: S311 - ids need only differ

    @property
    def book(self) -> Notebook:
        """The first notebook."""
        return next(iter(self.books.values()))

    @property
    def cells(self) -> list[Any]:
        """The cells of the first notebook."""
        cells: list[Any] = self.book["cells"]
        return cells

    def cell(self, grade_id: str) -> Cell:
        """Return a cell by its name."""
        return next(cell for cell in self.cells if grade_id_of(cell) == grade_id)

    def at(self, grade_id: str) -> int:
        """Return where a cell stands."""
        return self.cells.index(self.cell(grade_id))

    def nbgrader(self, grade_id: str) -> dict[str, Any]:
        """Return nbgrader's metadata of a cell."""
        found: dict[str, Any] = self.cell(grade_id)["metadata"]["nbgrader"]
        return found

    def cut(self, grade_id: str) -> Cell:
        """Take a cell out."""
        return self.cells.pop(self.at(grade_id))  # type: ignore[no-any-return]

    def new(self, source: str, cell_type: str = "code") -> Cell:
        """Return a cell of the student's own."""
        cell: Cell = {"cell_type": cell_type, "id": self.new_id(), "metadata": {}, "source": source}
        return cell | ({"outputs": [], "execution_count": None} if cell_type == "code" else {})

    def copy(self, grade_id: str, source: str | None = None) -> Cell:
        """Return a copy of a cell as Jupyter makes it: all but the id."""
        cell = copy.deepcopy(self.cell(grade_id))
        return cell | {"id": self.new_id()} | ({} if source is None else {"source": source})

    def stub(self, grade_id: str) -> str:
        """Return what was handed out of a cell."""
        sources = (
            cell.released for book in RELEASED.values() for cell in book.cells if cell.grade_id == grade_id
        )
        return next(sources)

    def new_id(self) -> str:
        """Return an id that no cell has."""
        return f"{self._ids.getrandbits(32):08x}"

    def split(self, grade_id: str, before: str, *, metadata: bool = True) -> None:
        """Split a cell before some text, as an editor does."""
        at, cell = self.at(grade_id), self.cell(grade_id)
        first, _, rest = cell["source"].partition(before)
        other = self.copy(grade_id, before + rest) if metadata else self.new(before + rest, cell["cell_type"])
        cell["source"] = first.rstrip("\n")
        self.cells.insert(at + 1, other)

    def split_lines(self, grade_id: str) -> None:
        """Make a cell of every line, as an editor does that is told to split again and again."""
        at, cell = self.at(grade_id), self.cell(grade_id)
        self.cells[at : at + 1] = [self.copy(grade_id, line) for line in cell["source"].split("\n")]

    def paste_twice(self) -> None:
        """Put below the first notebook, as it was handed out, the solved one; neither has metadata or ids."""
        name = next(iter(self.books))
        self.cells[:0] = copy.deepcopy(RELEASE[name]["cells"])
        for cell in self.cells:
            cell |= {"metadata": {}, "id": self.new_id()}

    def merge(self, *grade_ids: str) -> Cell:
        """Merge neighbouring cells into the first one, as an editor does, and all between them."""
        first, last = self.at(grade_ids[0]), self.at(grade_ids[-1])
        merged: Cell = self.cells[first]
        merged["source"] = "\n\n".join(cell["source"] for cell in self.cells[first : last + 1])
        del self.cells[first + 1 : last + 1]
        return merged

    def through_colab(self) -> None:
        """Do to the first notebook what Google Colab does: metadata gone, ids elsewhere, another kernel."""
        for cell in self.cells:
            cell["metadata"] = {"id": self.new_id()}
            del cell["id"]
            if cell["cell_type"] == "code":
                cell["metadata"]["outputId"] = self.new_id()
                cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["ok\n"]}]
        self.book["metadata"] = {
            "colab": {"provenance": []},
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
        }
        self.book["nbformat_minor"] = 0

    def through_text(self) -> None:
        """Do to the first notebook what a round trip through a script does: nothing but texts stays."""
        for cell in self.cells:
            cell["metadata"] = {}
            del cell["id"]
            cell["source"] = "\n".join(line.rstrip() for line in cell["source"].strip().split("\n"))
        self.book["metadata"] = {"jupytext": {"formats": "ipynb,py:percent"}}
        self.book["nbformat_minor"] = 4

    def write(self, folder: Path) -> None:
        """Write it into a folder that does not exist."""
        folder.mkdir(parents=True)
        for name, book in self.books.items():
            self.files.setdefault(self.names[name], dump_notebook(book))
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


@dataclass(frozen=True, kw_only=True)
class Case:
    """
    A damaged submission.

    Parameters
    ----------
    damage : callable
        Damages a right submission.
    books : tuple of str
        The notebooks that are handed in.
    status : mapping of str to Status
        What becomes of each notebook.
    scores : mapping of str to str
        The score of each cell, as `shown` writes it.
    repairs : set of tuple
        Kind and place of every repair.
    evidence : set of tuple
        Kind, severity and place of all that looks like tampering.
    reason : str
        Words of the reason why there is no score.
    ignored : tuple of str
        Files that count for nothing.
    """

    damage: Callable[[Submission], None]
    books: tuple[str, ...]
    status: dict[str, Status]
    scores: dict[str, str]
    repairs: set[tuple[R, str]]
    evidence: set[tuple[E, Severity, str]]
    reason: str
    ignored: tuple[str, ...]

    def submission(self) -> Submission:
        """Return the damaged submission."""
        submission = Submission(self.books)
        self.damage(submission)
        return submission


def write_course(root: Path) -> None:
    """Put the notebooks that the cases are made of into a copy of the course."""
    for folder, books in (("source", SOURCE), ("release", RELEASE)):
        for name, book in books.items():
            write_notebook(root / folder / ASSIGNMENT / f"{name}.ipynb", book)


CASES: dict[str, Case] = {}
"""All cases, by the name of what happened."""


@dataclass(kw_only=True)
class case:  # noqa: N801 - a decorator
    """
    Make a case of a function.

    What is not given is as in a right submission: full scores, nothing
    repaired, nothing unusual. `lost` gives the score of cells that are not full.
    """

    books: tuple[str, ...] = (ONE,)
    lost: dict[str, str] = field(default_factory=dict)
    repairs: set[tuple[R, str]] = field(default_factory=set)
    evidence: set[tuple[E, Severity, str]] = field(default_factory=set)
    status: dict[str, Status] = field(default_factory=dict)
    reason: str = ""
    ignored: tuple[str, ...] = ()

    def __call__(self, damage: Callable[[Submission], None]) -> Callable[[Submission], None]:
        """Add the case."""
        here = {name: Status.GRADED if name in self.books else Status.MISSING for name in FULL}
        status = here | self.status
        scores: dict[str, str] = {}
        for name, cells in FULL.items():
            none = {Status.MISSING: "0", Status.UNREADABLE: "none"}
            scores |= {cell: none.get(status[name], full) for cell, full in cells.items()}
        CASES[damage.__name__] = Case(
            damage=damage,
            books=self.books,
            status=status,
            scores=scores | self.lost,
            repairs=self.repairs,
            evidence=self.evidence,
            reason=self.reason,
            ignored=self.ignored,
        )
        return damage
