"""Random damage that keeps the text of every answer: what it costs a notebook is nothing but its form."""

from __future__ import annotations

import contextlib
import copy
import io
import random
from typing import TYPE_CHECKING, Any

from damaged import RELEASED, Submission

from autograder.course.released import Kind, grade_id_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.notebook import Cell, Notebook

    Damage = Callable[["Damaged"], None]


class Damaged:
    """
    A solved notebook that is damaged step by step, the same for the same seed.

    Parameters
    ----------
    name : str
        The notebook.
    seed : int
        Chooses the damages and where they are done.
    count : int
        How many there are, before a split or a merge that may come last.

    Attributes
    ----------
    log : list of str
        What was done.
    """

    def __init__(self, name: str, seed: int, count: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.released = RELEASED[name]
        self.submission = Submission((name,))
        self.cells = self.submission.cells
        self.answers = [cell.grade_id for cell in self.released.cells if cell.kind is Kind.SOLUTION]
        self.log: list[str] = []
        for damage in (*self.rng.choices(DAMAGES, k=count), self.rng.choice(LAST)):
            damage(self)
            self.log.append(damage.__name__)

    @property
    def notebook(self) -> Notebook:
        """The notebook as it is now."""
        return self.submission.book

    def any_cell(self) -> Cell:
        """Return one of the cells."""
        return self.cells[self.rng.randrange(len(self.cells))]  # type: ignore[no-any-return]

    def put(self, cell: Cell) -> None:
        """Put a cell anywhere."""
        self.cells.insert(self.rng.randrange(len(self.cells) + 1), cell)

    def copied(self, cell: Cell, **changes: Any) -> Cell:
        """Return a copy as editors make it."""
        return copy.deepcopy(cell) | {"id": self.submission.new_id()} | changes

    def answered(self) -> list[Cell]:
        """Return the cells that hold an answer."""
        return [
            cell
            for cell in self.cells
            if (name := grade_id_of(cell)) in self.answers and cell["source"] != self.submission.stub(name)
        ]

    def empty(self, cell: Cell) -> None:
        """Leave an answer's cell as it was handed out, or delete it."""
        if self.rng.random() < 0.5:
            cell["source"] = self.submission.stub(grade_id_of(cell))
        else:
            self.cells.remove(cell)


# ---------------------------------------------------------------------- damages


def copy_cell(d: Damaged) -> None:
    """Copy a cell to anywhere."""
    d.put(d.copied(d.any_cell()))


def copy_stub(d: Damaged) -> None:
    """Paste what was handed out of an answer anywhere."""
    name = d.rng.choice(d.answers)
    for cell in [cell for cell in d.cells if grade_id_of(cell) == name][:1]:
        d.put(d.copied(cell, source=d.submission.stub(name)))


def move_cell(d: Damaged) -> None:
    """Move a cell to anywhere."""
    cell = d.any_cell()
    d.cells.remove(cell)
    d.put(cell)


def shuffle(d: Damaged) -> None:
    """Put all cells into another order."""
    d.rng.shuffle(d.cells)


def strip_cell(d: Damaged) -> None:
    """Take a cell's metadata, perhaps its id too."""
    cell = d.any_cell()
    cell["metadata"] = {}
    if d.rng.random() < 0.5:
        cell["id"] = d.submission.new_id()


def strip_all(d: Damaged) -> None:
    """Take all metadata and ids, as Google Colab does."""
    for cell in d.cells:
        cell["metadata"] = {"id": d.submission.new_id()}
        cell.pop("id", None)


def rename(d: Damaged) -> None:
    """Give a cell another grade_id."""
    if "nbgrader" in (cell := d.any_cell())["metadata"]:
        cell["metadata"]["nbgrader"]["grade_id"] = f"mine-{d.rng.random():.4}"


def retype(d: Damaged) -> None:
    """Make a cell code, Markdown or raw text."""
    d.any_cell()["cell_type"] = d.rng.choice(["code", "markdown", "raw"])


def delete_given(d: Damaged) -> None:
    """Delete a cell with nothing of the student's."""
    given = {cell.released.strip() for cell in d.released.cells if cell.kind is not Kind.SOLUTION}
    places = [at for at, cell in enumerate(d.cells) if cell["source"].strip() in given]
    if places:
        del d.cells[d.rng.choice(places)]


def write_elsewhere(d: Damaged) -> None:
    """Write an answer into a cell of one's own, anywhere."""
    if answers := d.answered():
        cell = d.rng.choice(answers)
        text = cell["source"]
        d.empty(cell)
        d.put(d.submission.new(text))


def write_into_another_answer(d: Damaged) -> None:
    """Write an answer below another one."""
    if len(answers := d.answered()) > 1:
        cell, other = d.rng.sample(answers, 2)
        other["source"] += "\n\n" + cell["source"]
        d.empty(cell)


def write_into_given_code(d: Damaged) -> None:
    """Write an answer into what is given, or into a test."""
    answers = d.answered()
    given = [cell for cell in d.cells if cell["cell_type"] == "code" and cell not in answers]
    given = [cell for cell in given if grade_id_of(cell) and grade_id_of(cell) not in d.answers]
    if answers and given:
        cell, other = d.rng.choice(answers), d.rng.choice(given)
        texts = [cell["source"], other["source"]]
        d.rng.shuffle(texts)
        other["source"] = "\n\n".join(texts)
        d.cells.remove(cell)


def nothing(_: Damaged) -> None:
    """Do nothing more."""


def split(d: Damaged) -> None:
    """Split a cell between two lines, with or without a copy of its metadata."""
    places = [at for at, cell in enumerate(d.cells) if cell["cell_type"] == "code" and "\n" in cell["source"]]
    at = d.rng.choice(places)
    lines = d.cells[at]["source"].split("\n")
    cut = d.rng.randrange(1, len(lines))
    d.cells.insert(at + 1, d.copied(d.cells[at], source="\n".join(lines[cut:])))
    d.cells[at]["source"] = "\n".join(lines[:cut])
    if d.rng.random() < 0.5:
        d.cells[at + 1]["metadata"] = {}


def merge(d: Damaged) -> None:
    """Merge a cell with the next one."""
    at = d.rng.randrange(len(d.cells) - 1)
    d.cells[at]["source"] += "\n\n" + d.cells.pop(at + 1)["source"]


DAMAGES: list[Damage] = [
    copy_cell,
    copy_stub,
    move_cell,
    shuffle,
    strip_cell,
    strip_all,
    rename,
    retype,
    delete_given,
    write_elsewhere,
    write_into_another_answer,
    write_into_given_code,
]
LAST: list[Damage] = [split, merge, nothing, nothing]
"""What keeps an answer whole only while its parts stay together."""


# ------------------------------------------------------------------------- judge


def failed_tests(notebook: Notebook, name: str) -> dict[str, str]:
    """
    Run a repaired notebook from top to bottom, in this process.

    Parameters
    ----------
    notebook : dict
        A notebook with the instructor's own solutions in it.
    name : str
        Which one.

    Returns
    -------
    dict of str to str
        What the visible tests raised, by grade_id; empty if all is right.
    """
    tests = {cell.grade_id: cell.released for cell in RELEASED[name].cells if cell.kind is Kind.TEST}
    names: dict[str, Any] = {"__name__": "__main__"}
    raised = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            grade_id = grade_id_of(cell)
            try:
                exec(tests.get(grade_id, cell["source"]), names)  # noqa: S102 - the instructor's solutions
            except Exception as error:  # noqa: BLE001 - a cell that raises is followed by the next
                if grade_id in tests:
                    raised[grade_id] = repr(error)
    return raised
