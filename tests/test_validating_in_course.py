"""`autograder validate` inside a course, which knows what was handed out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from handouts import named
from known_solutions import ASSIGNMENT

from autograder.cli import FAILED, main
from autograder.notebook import dump_notebook, read_notebook, write_notebook
from autograder.sandbox.wall import Tier, probe

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from autograder.course.course import Course
    from autograder.notebook import Notebook

pytestmark = pytest.mark.sandbox

COUNT = "exercise1_parameter_count"
TESTS = ("test_head_dim", "test_parameter_count", "test_worked_example")
UNSAFE = ("--unsafe-no-sandbox",) if probe().tier is Tier.C else ()


def validate(*arguments: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["validate", *UNSAFE, *map(str, arguments)])


@pytest.fixture
def desk(course: Course) -> Path:
    """Return the folder of a student's submission in a course."""
    folder = course.submitted("ana", ASSIGNMENT)
    folder.mkdir(parents=True)
    return folder


def solved(course: Course) -> Notebook:
    """Return a solved notebook."""
    return read_notebook(course.solution(ASSIGNMENT) / f"{COUNT}.ipynb")


def without(notebook: Notebook, grade_id: str) -> Notebook:
    """Return a notebook without one cell."""
    lost = named(notebook, grade_id)
    return notebook | {"cells": [cell for cell in notebook["cells"] if cell is not lost]}


def test_deleted_and_edited_tests_and_wrong_names_are_told(course: Course, desk: Path) -> None:
    """What was handed out is known there; a test that is not there does not pass."""
    edited = without(solved(course), "test_head_dim")
    cell = named(edited, "test_parameter_count")
    cell["source"] = "assert True"
    # Who edits a test may mend its checksum too.
    cell["metadata"]["nbgrader"].pop("checksum", None)
    write_notebook(desk / f"{COUNT}.ipynb", edited)
    (desk / f"{COUNT} (1).ipynb").write_text(dump_notebook(solved(course)), encoding="utf-16")
    write_notebook(desk / "homework.ipynb", solved(course))

    result = validate("--json", *sorted(desk.iterdir()))
    copy, right, other = json.loads(result.stdout)

    assert result.exit_code == FAILED
    assert (right["passed"], right["missing"], right["changed"]) == (False, ["test_head_dim"], [TESTS[1]])
    assert right["notes"] == []
    assert (copy["passed"], copy["missing"], copy["changed"]) == (True, [], [])
    assert any("UTF-16" in note for note in copy["notes"])
    assert any(note.endswith(f"Rename it to {COUNT}.ipynb.") for note in copy["notes"])
    assert any("homework.ipynb is no name of a notebook" in note for note in other["notes"])


def test_a_notebook_without_any_test_is_told_what_it_lacks(course: Course, desk: Path) -> None:
    """All that was handed out is named."""
    notebook: Any = solved(course)
    for grade_id in TESTS:
        notebook = without(notebook, grade_id)
    write_notebook(desk / f"{COUNT}.ipynb", notebook)

    result = validate(desk / f"{COUNT}.ipynb")

    assert result.exit_code == FAILED
    assert "0 of 0 test cells pass" in result.output
    for grade_id in TESTS:
        assert (
            f"  {grade_id} is missing, or has lost its metadata; for grading it is put back.\n"
            in result.output
        )


def test_what_is_no_python_is_told_first_and_once(course: Course, desk: Path) -> None:
    """What fails for want of it points to it, and not to a name."""
    notebook = solved(course)
    named(notebook, "head_dim")["source"] = "def head_dim(d_model, n_heads:\n    return d_model // n_heads\n"
    write_notebook(desk / f"{COUNT}.ipynb", notebook)

    lines = validate(desk / f"{COUNT}.ipynb").output.split("\n")

    assert lines[1] == "  head_dim is not Python, so that nothing of it is run."
    assert lines[2] == "      SyntaxError: '(' was never closed (line 1)"
    assert "      head_dim is not defined, because head_dim stops with SyntaxError." in lines
    assert not [line for line in lines if "NameError" in line or "ipython-input" in line]


def test_source_and_release_are_as_they_were_handed_out(course: Course) -> None:
    """Hidden tests in the one and stubs in the other are no change."""
    paths = [folder(ASSIGNMENT) / f"{COUNT}.ipynb" for folder in (course.source, course.release)]

    source, release = json.loads(validate("--json", *paths).stdout)

    assert source["passed"]
    assert source["changed"] == release["changed"] == source["missing"] == release["missing"] == []
    assert source["notes"] == release["notes"] == []
