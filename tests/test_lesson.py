"""The lesson: what students get runs with what students have, and states the rules it is graded by."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

import pytest
from handouts import ALL_RELEASED, COURSE, handed_out

from autograder.course.released import Kind, grade_id_of
from autograder.errors import NotebookError
from autograder.grader.classic import hides_lines
from autograder.notebook import dump_notebook, read_notebook
from autograder.pages.lessons import lessons
from autograder.variants import fill, solved_cells

if TYPE_CHECKING:
    from autograder.course.released import ReleasedNotebook
    from autograder.notebook import Notebook

STUDENTS_HAVE = {"numpy", "matplotlib"}

# Points of every graded cell, as the course promises them.
POINTS = {
    "exercise1_parameter_count": {"test_head_dim": 1, "test_parameter_count": 2, "test_worked_example": 1},
    "exercise2_split_heads": {
        "test_split_heads": 3,
        "test_merge_heads": 2,
        "test_tokens_in_naive_head": 1,
        "explain_reshape_order": 3,
    },
    "exercise3_forward": {"test_forward": 6, "test_roundtrip_is_exact": 1, "test_heads_differ": 1},
    "softmax_and_attention": {
        "test_softmax": 3,
        "test_attention_weights": 2,
        "test_attention": 2,
        "explain_scale_and_mask": 2,
        "picture_of_your_own": 1,
    },
}

# Without the kit: as on a student's machine.
WITHOUT_THE_KIT = "import sys\nsys.modules.update({'autograder': None, 'solutions': None, 'nbgrader': None})"


# All points and those that no person gives, of each assignment.
TOTALS = {"attention_warmup": (10, 7), "multi_head_attention": (21, 18)}


@pytest.fixture(params=ALL_RELEASED)
def released(request: pytest.FixtureRequest) -> ReleasedNotebook:
    """Return each notebook of the course."""
    _, notebook = ALL_RELEASED[request.param]
    return notebook


def test_the_assignments_are_what_the_course_promises() -> None:
    """Notebooks, graded cells and points, most of them automatic."""
    totals = {
        assignment: (
            sum(released.max_score for released in COURSE.released(assignment)),
            sum(
                cell.points
                for released in COURSE.released(assignment)
                for cell in released.graded
                if cell.kind is Kind.TEST
            ),
        )
        for assignment in COURSE.assignments()
    }

    assert {
        name: {cell.grade_id: cell.points for cell in released.graded}
        for name, (_, released) in ALL_RELEASED.items()
    } == POINTS
    assert totals == TOTALS


def test_the_warm_up_is_of_the_classic_kind() -> None:
    """It has every kind of cell that nbgrader knows, and of test cells one of each of ours and theirs."""
    _, warm_up = ALL_RELEASED["softmax_and_attention"]
    tests = {cell.grade_id: cell for cell in warm_up.graded if cell.kind is Kind.TEST}
    checked = {name for name, cell in tests.items() if cell.hidden_check}
    hiding = {name for name, cell in tests.items() if hides_lines(cell)}

    assert {cell.kind for cell in warm_up.layout} == set(Kind)
    assert (checked, hiding) == ({"test_softmax"}, {"test_attention_weights"})
    assert tests["test_attention"].source.splitlines()[-1] == "score"


def test_every_graded_cell_of_the_warm_up_is_called_by_its_own_heading() -> None:
    """A task by the heading in its own cell, the others by the one above them."""
    tasks = lessons(COURSE.released("attention_warmup"))["softmax_and_attention"].tasks

    assert [section.title[0] for section in tasks.values()] == ["1", "2", "3", "4", "5"]


def test_every_name_that_students_write_has_its_cell() -> None:
    """A solution cell is named after what it defines."""
    names = {
        cell.grade_id
        for _, released in ALL_RELEASED.values()
        for cell in released.cells
        if cell.kind is Kind.SOLUTION
    }

    assert names == {
        *("head_dim", "parameter_count", "single_head_parameter_count", "worked_example"),
        *("split_heads", "merge_heads", "tokens_in_naive_head"),
        *("multi_head_attention_class", "roundtrip_is_exact", "heads_differ"),
        *("softmax", "attention_weights", "attention"),
    }


def test_students_need_numpy_and_matplotlib_only(released: ReleasedNotebook) -> None:
    """Beside Python's own modules a released notebook imports nothing else, the kit least of all."""
    notebook = handed_out(released)
    imported = {
        name.partition(".")[0]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        for node in ast.walk(ast.parse(cell["source"]))
        for name in _imported(node)
    }

    assert imported <= STUDENTS_HAVE | sys.stdlib_module_names
    assert "autograder" not in dump_notebook(notebook)


@pytest.mark.slow
def test_a_filled_release_runs_without_the_kit(released: ReleasedNotebook) -> None:
    """In a real kernel, from top to bottom, the visible asserts included."""
    filled = fill(handed_out(released), solved_cells(_source(released)))

    ran = _run(filled)

    assert not [output for cell in ran["cells"] for output in _errors(cell)]
    assert any(
        "image/png" in output.get("data", {}) for cell in ran["cells"] for output in cell.get("outputs", [])
    )


@pytest.mark.slow
def test_an_empty_release_fails_only_where_students_write(released: ReleasedNotebook) -> None:
    """A student who runs everything first meets no error but their own empty cells."""
    ran = _run(handed_out(released))
    given = {cell.grade_id for cell in released.cells if cell.kind is Kind.READONLY}
    failing = {grade_id_of(cell) for cell in ran["cells"] if _errors(cell)}

    assert not failing & (given | {""})


def test_the_rules_are_stated(released: ReleasedNotebook) -> None:
    """What the checks test stands in the notebook: polarity, uneven heads, purity, tolerances."""
    text = " ".join(cell["source"] for cell in handed_out(released)["cells"]).lower()
    rules = {
        "exercise1_parameter_count": ("integer", "divide", "raise"),
        "exercise2_split_heads": ("read-only", "layout", "exact", "changed", "divide"),
        "exercise3_forward": (
            "true = hidden",
            "read-only",
            "float32",
            "1e-6",
            "1e-8",
            "overflow",
            "at least one",
        ),
        "softmax_and_attention": (
            "true = hidden",
            "at least one",
            "overflow",
            "1e-6",
            "1e-8",
            "changed",
            "last axis",
        ),
    }

    assert not [rule for rule in rules[released.name] if rule not in text]


def _source(released: ReleasedNotebook) -> Notebook:
    assignment, _ = ALL_RELEASED[released.name]
    return read_notebook(COURSE.source(assignment) / f"{released.name}.ipynb", error=NotebookError)


def _run(notebook: Notebook) -> Any:
    import nbformat  # noqa: PLC0415 - it takes seconds
    from nbclient import NotebookClient  # noqa: PLC0415 - the same

    node = nbformat.from_dict({**notebook, "cells": [_first_cell(), *notebook["cells"]]})  # type: ignore[no-untyped-call]
    return NotebookClient(node, timeout=120, allow_errors=True, kernel_name="python3").execute()


def _first_cell() -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "first",
        "metadata": {},
        "outputs": [],
    }
    return cell | {"source": WITHOUT_THE_KIT}


def _errors(cell: Any) -> list[str]:
    return [
        f"{output['ename']}: {output['evalue']}"
        for output in cell.get("outputs", [])
        if output["output_type"] == "error"
    ]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
