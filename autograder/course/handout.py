"""Joins an instructor's notebook with the release that nbgrader built from it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from autograder.course.released import (
    STOCK,
    Kind,
    ReleasedCell,
    ReleasedNotebook,
    checksum,
    grade_id_of,
    kind_of,
)
from autograder.course.rules import PYTHON, Rules
from autograder.errors import NotebookError, ReleaseError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from autograder.notebook import Cell, Notebook

SCHEMA = 3
"""The version of nbgrader's metadata of cells that nbgrader 0.9 writes."""


def released_notebook(
    name: str,
    source: Notebook,
    release: Notebook,
    *,
    rules: Rules = STOCK,
    stored: Callable[[], Mapping[str, str]] = dict,
) -> ReleasedNotebook:
    """
    Join an instructor's notebook with the release that nbgrader built from it.

    Parameters
    ----------
    name : str
        The notebook's name without suffix.
    source, release : dict
        The instructor's notebook, and the one that students got.
    rules : Rules
        What the release was made by.
    stored : callable
        Returns the sources of cells that the gradebook holds, by grade_id.
        Asked for cells whose source the instructor's notebook does not hold:
        nbgrader wrote tests into them, or they come from a header or a footer.

    Returns
    -------
    ReleasedNotebook
        Locked cells with the instructor's source, the others as handed out.

    Raises
    ------
    NotebookError
        If a cell of the release has no counterpart in the source, or its
        nbgrader metadata cannot be used.
    ReleaseError
        If the notebook is not in Python, or its metadata of another version of nbgrader.
    """
    check_notebook(name, release)
    sources = _Sources(source, rules, stored)
    layout = []
    seen = set()
    for cell in release["cells"]:
        grade_id = grade_id_of(cell)
        if grade_id in seen or (grade_id and not sources.has(grade_id)):
            what = f"cell {grade_id!r} is in the release twice, or not in its source"
            raise NotebookError(name, what, "Release the assignment again.")
        seen |= {grade_id} - {""}
        layout.append(_released_cell(name, cell, sources))
    metadata = release.get("metadata", {})
    return ReleasedNotebook(name=name, layout=tuple(layout), metadata=metadata, rules=rules)


def check_notebook(name: str, notebook: Notebook) -> None:
    """
    Refuse an instructor's notebook that another program would have to grade.

    Parameters
    ----------
    name : str
        What to call it.
    notebook : dict
        The notebook.

    Raises
    ------
    ReleaseError
        If it is not in Python, or its cells' metadata are of another version of nbgrader.
    """
    if (language := language_of(notebook)).lower() not in {PYTHON, "ipython"}:
        what = f"it is written in {language!r}; only notebooks in Python are graded"
        raise ReleaseError(name, what, "Grade this assignment with `nbgrader autograde`.")
    for cell in notebook["cells"]:
        if not (grade_id := grade_id_of(cell)):
            continue
        version = cell["metadata"]["nbgrader"].get("schema_version", 0)
        if version != SCHEMA:
            what = f"the nbgrader metadata of its cell {grade_id!r} have version {version!r}, not {SCHEMA}"
            remedy = (
                "Back the course up and run `nbgrader update .` in it, then release the assignment again."
            )
            raise ReleaseError(name, what, remedy)


def language_of(notebook: Notebook) -> str:
    """Return the language of a notebook's code, by default Python."""
    metadata = notebook.get("metadata", {})
    kernel, about = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
    return str(kernel.get("language") or about.get("name") or PYTHON)


class _Sources:
    """The instructor's cells of a notebook by grade_id, and what is stored of those that nbgrader made."""

    def __init__(self, source: Notebook, rules: Rules, stored: Callable[[], Mapping[str, str]]) -> None:
        self.rules = rules
        self._cells = {grade_id_of(cell): cell for cell in source["cells"] if grade_id_of(cell)}
        self._ask = stored
        self._stored: Mapping[str, str] | None = None

    def has(self, grade_id: str) -> bool:
        return grade_id in self._cells or grade_id in self._told()

    def text(self, grade_id: str) -> str:
        """Return what is graded of a locked cell: its source with hidden tests."""
        cell = self._cells.get(grade_id)
        if cell is None or not self.rules.is_stock or self.rules.is_instantiated(cell):
            stored = self._told().get(grade_id)
            if stored is not None or cell is None:
                return stored or ""
        return self.rules.stored(cell)

    def _told(self) -> Mapping[str, str]:
        if self._stored is None:
            self._stored = self._ask()
        return self._stored


def _released_cell(name: str, cell: Cell, sources: _Sources) -> ReleasedCell:
    nbgrader = cell["metadata"].get("nbgrader", {})
    grade_id = grade_id_of(cell)
    kind = kind_of(nbgrader) if grade_id else Kind.PLAIN
    try:
        points = Decimal(str(nbgrader.get("points", 0))) if kind.graded else Decimal(0)
    except InvalidOperation:
        what = f"cell {grade_id!r} has points that are no number"
        raise NotebookError(name, what, "Set its points in the notebook's assignment view.") from None
    graded = sources.text(grade_id) if kind.locked else cell["source"]
    return ReleasedCell(
        grade_id=grade_id,
        kind=kind,
        cell_type=cell["cell_type"],
        points=points,
        source=graded,
        released=cell["source"],
        checksum=checksum(cell | {"source": graded}) if kind is not Kind.PLAIN else "",
        cell_id=cell.get("id", ""),
        metadata=cell["metadata"],
        rules=sources.rules,
    )
