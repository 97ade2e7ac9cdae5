"""
Known right and wrong solutions, and the notebooks a student would have made of them.

A variant is a small Python module under `solutions/alternatives/` or
`solutions/misconceptions/`. It defines some of the names that the students
define; everything else comes from the instructor's solved notebook. A class
may be partial: members that it lacks are those of the solved class.

Notebooks are plain JSON dictionaries here, and nothing is executed except what
`program` returns.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autograder.course.released import STOCK, grade_id_of
from autograder.errors import CheckError, NotebookError, ReleaseError, nearest
from autograder.notebook import joined, read_notebook
from autograder.statements import Statement, cut, names_bound, needed_by, overlay

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from autograder.notebook import Cell, Notebook

KINDS = ("alternatives", "misconceptions")
LABELS = ("FAMILY", "LOSES", "CHECK", "HINT")
"""What a misconception says of itself, beside its docstring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """
    One known right or wrong solution.

    Parameters
    ----------
    name : str
        File name without suffix.
    kind : str
        "alternatives" (right) or "misconceptions" (wrong).
    claim : str
        First paragraph of the module's docstring on one line: what it does,
        or what a good teacher would say of the mistake.
    hint : str
        What to look at next; empty for an alternative.
    loses : str
        The one grade cell in which it loses points; empty for an alternative.
    check : str
        The check of that cell that must catch it; empty for an alternative.
    family : str
        What the mistake is about, "masks" for example; empty for an alternative.
    source : str
        The module's text.
    path : Path
        The module's file.
    """

    name: str
    kind: str
    claim: str
    hint: str
    loses: str
    check: str
    family: str
    source: str
    path: Path


def load_variants(root: Path, kind: str, assignment: str, source: Path | None = None) -> tuple[Variant, ...]:
    """
    Read the known right or wrong solutions of an assignment, sorted by name.

    Parameters
    ----------
    root : Path
        The folder that holds `solutions/`.
    kind : str
        "alternatives" or "misconceptions".
    assignment : str
        Name of the assignment.
    source : Path, optional
        The folder of its instructor notebooks, if it is not in `source/`.

    Returns
    -------
    tuple of Variant
        Empty if the course keeps none for this assignment.

    Raises
    ------
    CheckError
        If `kind` is unknown, or a file cannot be parsed, lacks its docstring or
        one of `LABELS`, names no grade cell, or defines a name of no use.
    NotebookError
        If an instructor notebook cannot be read.
    """
    if kind not in KINDS:
        raise CheckError(f"solutions/{kind}", "there is no such kind of variant", nearest(kind, KINDS))
    files = sorted((root / "solutions" / kind / assignment).glob("[!_]*.py"))
    variants = tuple(_load(path, kind, path.relative_to(root).as_posix()) for path in files)
    if variants:
        paths = (source or root / "source" / assignment).glob("*.ipynb")
        notebooks = [read_notebook(path, error=NotebookError) for path in sorted(paths)]
        own = frozenset(name for book in notebooks for names in _cell_names(book).values() for name in names)
        graded = [grade_id_of(one) for book in notebooks for one in book["cells"] if _meta(one).get("grade")]
        for variant in variants:
            _check(variant, own, graded)
    return variants


def touched_cells(notebook: Notebook, variant: Variant) -> tuple[str, ...]:
    """
    Name the solution cells of a notebook that a variant changes.

    Parameters
    ----------
    notebook : dict
        The instructor notebook.
    variant : Variant
        The known solution.

    Returns
    -------
    tuple of str
        Their grade ids in the notebook's order; empty if it changes none.
    """
    changed = names_bound(_parts(variant))
    return tuple(grade_id for grade_id, names in _cell_names(notebook).items() if names & changed)


def solved_cells(notebook: Notebook, variant: Variant | None = None) -> dict[str, str]:
    """
    Write every solution cell as a student who solved it would have.

    Parameters
    ----------
    notebook : dict
        The instructor notebook.
    variant : Variant, optional
        Whose definitions take the place of the instructor's. None changes nothing.

    Returns
    -------
    dict of str to str
        Text of each solution cell by grade id, in the notebook's order, without
        solution markers. Written answers (markdown) are included.

    Raises
    ------
    NotebookError
        If a solution cell is not Python.
    CheckError
        If the variant does not fit its cell.
    """
    solved = {grade_id_of(cell): _solved(cell) for cell in _solutions(notebook)}
    if variant is None:
        return solved
    names = _cell_names(notebook)
    own = frozenset[str]().union(*names.values())
    given = {ast.dump(node) for one in _given(notebook) for node in one.nodes}
    parts = _parts(variant)
    helpers = [part for part in parts if not part.binds & own and ast.dump(part.nodes[0]) not in given]
    for grade_id, bound in names.items():
        mine = [part for part in parts if part.binds & bound]
        if mine:
            needed = needed_by(mine, helpers)
            helpers = [helper for helper in helpers if helper not in needed]
            solved[grade_id] = overlay(_pieces(solved[grade_id]), mine, needed)
            _parse(solved[grade_id], f"{variant.path.name} in cell {grade_id!r}")
    return solved


def combined_cells(notebook: Notebook, variants: Iterable[Variant]) -> dict[str, str]:
    """
    Write every solution cell as a student who holds several variants would have.

    Parameters
    ----------
    notebook : dict
        The instructor notebook.
    variants : iterable of Variant
        Where two change one cell, the last one wins.

    Returns
    -------
    dict of str to str
        As `solved_cells` returns it.
    """
    solved = solved_cells(notebook)
    cells = dict(solved)
    for variant in variants:
        mine = solved_cells(notebook, variant)
        cells |= {grade_id: text for grade_id, text in mine.items() if text != solved[grade_id]}
    return cells


def fill(release_notebook: Notebook, cells: Mapping[str, str]) -> Notebook:
    """
    Put solutions into a released notebook; the notebook given is left alone.

    Parameters
    ----------
    release_notebook : dict
        The notebook as students receive it.
    cells : mapping of str to str
        Text of solution cells by grade id, as `solved_cells` returns it.

    Returns
    -------
    dict
        A copy of the notebook with these cells filled in.

    Raises
    ------
    ReleaseError
        If the notebook lacks one of the cells.
    """
    filled = copy.deepcopy(release_notebook)
    places = {grade_id_of(cell): cell for cell in _solutions(filled)}
    for grade_id, text in cells.items():
        if grade_id not in places:
            what = f"it has no solution cell {grade_id!r}"
            raise ReleaseError("release notebook", what, "Build the release again from its source.")
        as_lines = isinstance(places[grade_id]["source"], list)
        places[grade_id]["source"] = text.splitlines(keepends=True) if as_lines else text
    return filled


def program(notebook: Notebook, variant: Variant | None = None) -> Callable[[], dict[str, Any]]:
    """
    Compile the solution cells, to be run in this process.

    Of the other cells only those statements run whose names the solutions use,
    so no picture is drawn. A solution may keep state between calls, so each use
    wants new names. For the course's own code only, never a student's.

    Parameters
    ----------
    notebook : dict
        The instructor notebook.
    variant : Variant, optional
        The known solution to run in place of the instructor's.

    Returns
    -------
    callable
        Runs the code and returns a new namespace; raises CheckError if the code raises.
    """
    solved = solved_cells(notebook, variant)
    answers = [one for grade_id in _cell_names(notebook) for one in _pieces(solved[grade_id])]
    own = names_bound(answers)
    needed = needed_by(answers, [one for one in _given(notebook) if not one.binds & own])
    where = variant.path.name if variant else "instructor notebook"
    codes = [compile(one.text, f"<{where}>", "exec") for one in (*needed, *answers)]

    def run() -> dict[str, Any]:
        """Return a new namespace."""
        names: dict[str, Any] = {"__name__": "__main__"}
        try:
            for code in codes:
                exec(code, names)  # noqa: S102 - the course's own code
        except Exception as error:
            what = f"running it raises {type(error).__name__}: {error}"
            raise CheckError(where, what, "Mend it or remove it.") from error
        return names

    return run


def _load(path: Path, kind: str, where: str) -> Variant:
    """Read one variant file and what it says of itself."""
    source = path.read_text(encoding="utf-8")
    tree = _parse(source, where)
    claim = (ast.get_docstring(tree) or "").partition("\n\n")[0]
    if not claim:
        raise CheckError(where, "it has no docstring", "Say in one sentence what this solution does.")
    said = dict.fromkeys(LABELS, "") | {
        node.targets[0].id: str(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for label in LABELS if kind == "misconceptions" else ():
        if not said[label]:
            raise CheckError(where, f"it does not set {label}", f'Add a line {label} = "...".')
    return Variant(
        name=path.stem,
        kind=kind,
        claim=" ".join(claim.split()),
        hint=said["HINT"],
        loses=said["LOSES"],
        check=said["CHECK"],
        family=said["FAMILY"],
        source=source,
        path=path,
    )


def _check(variant: Variant, own: frozenset[str], graded: Collection[str]) -> None:
    """Refuse a variant that names no grade cell or holds a name of no use."""
    where = "/".join(variant.path.parts[-4:])
    if variant.loses and variant.loses not in graded:
        raise CheckError(where, f"there is no grade cell {variant.loses!r}", nearest(variant.loses, graded))
    parts = _parts(variant)
    mine = [part for part in parts if part.binds & own]
    used = {*mine, *needed_by(mine, parts)}
    for part in parts:
        if part not in used:
            name = min(part.binds, default=part.text.splitlines()[0])
            what = f"no solution cell defines {name!r} and nothing uses it"
            raise CheckError(where, what, nearest(name, own))
    if not mine:
        raise CheckError(where, "it defines nothing that a student defines", f"Define one of: {sorted(own)}.")


def _meta(cell: Cell) -> dict[str, Any]:
    """Return nbgrader's part of the metadata of a cell; empty if it has none."""
    meta: dict[str, Any] = cell.get("metadata", {}).get("nbgrader", {})
    return meta


def _solutions(notebook: Notebook) -> Iterator[Cell]:
    """Yield the cells that students fill in."""
    return (cell for cell in notebook["cells"] if _meta(cell).get("solution"))


def _solved(cell: Cell) -> str:
    """Return an instructor's cell without the lines that mark its solution."""
    lines = joined(cell["source"]).splitlines()
    lines = [line for line in lines if not any(mark in line for mark in STOCK.solution)]
    return "\n".join(lines).strip("\n")


def _cell_names(notebook: Notebook) -> dict[str, frozenset[str]]:
    """Return the names that each code solution cell defines, by grade id."""
    return {
        grade_id_of(cell): names_bound(_cut(_solved(cell), f"cell {grade_id_of(cell)!r}"))
        for cell in _solutions(notebook)
        if cell["cell_type"] == "code"
    }


def _given(notebook: Notebook) -> list[Statement]:
    """Return the statements of the code cells that students neither fill in nor are graded by."""
    given: list[Statement] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and not (_meta(cell).get("solution") or _meta(cell).get("grade")):
            lines = joined(cell["source"]).splitlines()
            python = "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))
            given += _cut(python, f"cell {grade_id_of(cell)!r}")
    return given


def _parts(variant: Variant) -> list[Statement]:
    """Return what a variant hands in: its statements without docstring, labels and future imports."""
    labels = frozenset(LABELS)
    return [
        part
        for part in _pieces(variant.source)
        if not part.binds & labels and not any(_is_preamble(node) for node in part.nodes)
    ]


def _is_preamble(node: ast.stmt) -> bool:
    """Tell whether a statement is a bare string or an import of language features."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


@lru_cache(maxsize=1024)
def _pieces(source: str) -> tuple[Statement, ...]:
    """Cut a text of the course's own; most of its cells are the same with every variant."""
    return tuple(cut(source))


def _parse(source: str, where: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        what = f"it is not valid Python: {error.msg} (line {error.lineno})"
        raise CheckError(where, what, "Mend the syntax.") from error


def _cut(source: str, where: str) -> list[Statement]:
    """Cut the text of an instructor's cell into its statements."""
    try:
        return list(_pieces(source))
    except SyntaxError as error:
        what = f"it is not valid Python: {error.msg} (line {error.lineno})"
        raise NotebookError(where, what, "Mend the cell in the source notebook.") from error
