"""The known right and wrong solutions, their notebooks, and what tests of the checks ask of them."""

from __future__ import annotations

import ast
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.released import hidden_check
from autograder.variants import Variant, load_variants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.results import CheckResult

ASSIGNMENT = "multi_head_attention"
ASSIGNMENTS = ("attention_warmup", ASSIGNMENT)
ROOT = Path(__file__).parents[1]
RIGHT = tuple(one for name in ASSIGNMENTS for one in load_variants(ROOT, "alternatives", name))
WRONG = tuple(one for name in ASSIGNMENTS for one in load_variants(ROOT, "misconceptions", name))
BY_NAME = {variant.name: variant for variant in (*RIGHT, *WRONG)}
NOTEBOOKS: dict[str, list[dict[str, Any]]] = {
    name: [json.loads(path.read_text()) for path in sorted((ROOT / "source" / name).glob("*.ipynb"))]
    for name in ASSIGNMENTS
}


def named(variant: Variant) -> str:
    """Return the id of a parametrised case."""
    return variant.name


def assignment_of(variant: Variant) -> str:
    """Return the assignment that a known solution is of."""
    return variant.path.parent.name


def notebooks_of(variant: Variant) -> list[dict[str, Any]]:
    """Return the instructor's notebooks of its assignment."""
    return NOTEBOOKS[assignment_of(variant)]


def tests_in(notebook: dict[str, Any]) -> dict[str, bool]:
    """Return the grade ids of the test cells, and whether each has hidden checks."""
    metas = {
        "".join(cell["source"]): meta
        for cell in notebook["cells"]
        if (meta := cell["metadata"].get("nbgrader", {})).get("grade") and not meta.get("solution")
    }
    return {meta["grade_id"]: hidden_check(source) is not None for source, meta in metas.items()}


def grade_cells(notebook: dict[str, Any]) -> list[str]:
    """Return the grade ids of the cells with hidden checks."""
    return [grade_id for grade_id, is_checked in tests_in(notebook).items() if is_checked]


def code_cells(notebook: dict[str, Any]) -> set[str]:
    """Return the grade ids of the solution cells with code."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return {cell["metadata"].get("nbgrader", {}).get("grade_id", "") for cell in cells}


def judge_of(notebook: dict[str, Any], grade_id: str) -> str:
    """Return the test cell of a solution cell, the next one below it; empty if that has no hidden checks."""
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    below = ids[ids.index(grade_id) :]
    return next(one if is_checked else "" for one, is_checked in tests_in(notebook).items() if one in below)


def lost(results: Mapping[str, list[CheckResult]]) -> dict[str, dict[str, str]]:
    """Return what did not pass, by grade cell and check."""
    missed = {
        grade_id: {check.name: f"{check.outcome}: {check.rationale}" for check in checks if not check.earned}
        for grade_id, checks in results.items()
    }
    return {grade_id: checks for grade_id, checks in missed.items() if checks}


def functions(source: str) -> list[ast.FunctionDef]:
    """Return all functions and methods of a text."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


def undocumented(node: ast.FunctionDef) -> str:
    """Return what a function is, without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return "\n".join([node.name, ast.dump(node.args), *map(ast.dump, body)])


def listed(title: str, names: list[str]) -> list[str]:
    """Return a title and names in lines that fit a terminal."""
    return textwrap.wrap(
        f"{title}: {', '.join(names)}", 100, subsequent_indent="    ", break_on_hyphens=False
    )
