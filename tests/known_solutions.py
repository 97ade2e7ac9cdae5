"""The known right and wrong solutions, their notebooks, and what tests of the checks ask of them."""

from __future__ import annotations

import ast
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.variants import Variant, load_variants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.results import CheckResult

ASSIGNMENT = "multi_head_attention"
ROOT = Path(__file__).parents[1]
RIGHT = load_variants(ROOT, "alternatives", ASSIGNMENT)
WRONG = load_variants(ROOT, "misconceptions", ASSIGNMENT)
BY_NAME = {variant.name: variant for variant in (*RIGHT, *WRONG)}
NOTEBOOKS: list[dict[str, Any]] = [
    json.loads(path.read_text()) for path in sorted((ROOT / "source" / ASSIGNMENT).glob("*.ipynb"))
]


def named(variant: Variant) -> str:
    """Return the id of a parametrised case."""
    return variant.name


def grade_cells(notebook: dict[str, Any]) -> list[str]:
    """Return the grade ids of the cells with hidden checks."""
    metas = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return [meta["grade_id"] for meta in metas if meta.get("grade") and not meta.get("solution")]


def code_cells(notebook: dict[str, Any]) -> set[str]:
    """Return the grade ids of the solution cells with code."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return {cell["metadata"].get("nbgrader", {}).get("grade_id", "") for cell in cells}


def judge_of(notebook: dict[str, Any], grade_id: str) -> str:
    """Return the test cell of a solution cell: the next one below it."""
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    below = ids[ids.index(grade_id) :]
    return next(one for one in grade_cells(notebook) if one in below)


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
