"""Grading a submission: real notebooks, real student processes, and what people see afterwards."""

from __future__ import annotations

import shutil
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from plain_course import take_pictures_out
from submissions import cell, change, lost, scores

from autograder.course.course import Course
from autograder.course.released import grade_id_of
from autograder.course.settings import load_settings
from autograder.findings import EvidenceKind, RepairKind, Severity
from autograder.graded import read_result
from autograder.grader.grader import Grader
from autograder.grading.storage import write_files
from autograder.notebook import dump_notebook, read_notebook, write_notebook
from autograder.results import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from autograder.results import GradedSubmission

    HandIn = Callable[..., Path]
    Grade = Callable[[str], GradedSubmission]

pytestmark = pytest.mark.sandbox

ASSIGNMENT = "multi_head_attention"
SPLIT, FORWARD = "exercise2_split_heads", "exercise3_forward"


@pytest.fixture(scope="module")
def grader(shared_course: Course) -> Iterator[Grader]:
    """Return a grader for all tests of this module, because it takes seconds to warm up."""
    take_pictures_out(shared_course, ASSIGNMENT)
    settings = load_settings(shared_course.root)
    with Grader(shared_course, settings) as grader:
        yield grader


@pytest.fixture
def course(grader: Grader) -> Iterator[Course]:
    """Return the shared course; what a test hands in is gone after it."""
    yield grader.course
    shutil.rmtree(grader.course.root / "submitted", ignore_errors=True)


@pytest.fixture
def grade(grader: Grader) -> Grade:
    """Grade a student's submission."""
    return lambda student: grader.grade_submission(ASSIGNMENT, student)


def code_cell(name: str, source: str) -> dict[str, Any]:
    """Return a code cell that is nobody's."""
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {},
        "outputs": [],
    }
    return cell | {"source": source}


def insert(folder: Path, name: str, before: str, source: str) -> None:
    """Put a code cell before the cell of a name."""
    notebook = read_notebook(folder / f"{name}.ipynb")
    place = notebook["cells"].index(cell(notebook, before))
    notebook["cells"].insert(place, code_cell(f"s{place}", source))
    write_notebook(folder / f"{name}.ipynb", notebook)


def test_the_solved_notebooks_earn_everything(grade: Grade, hand_in: HandIn) -> None:
    """18 points, and the written answer waits."""
    hand_in("ana")
    graded = grade("ana")

    assert graded.result.auto_score == 18
    assert graded.result.max_score == 21
    assert [book.repairs for book in graded.result.notebooks] == [(), (), ()]
    assert [book.evidence for book in graded.result.notebooks] == [(), (), ()]
    assert scores(graded)["explain_reshape_order"] is None


def test_evidence_is_apart_from_the_score(grade: Grade, hand_in: HandIn) -> None:
    """It stands in the result and in the graded notebook, with the cell; right answers stay right."""
    folder = hand_in("ana")
    insert(folder, SPLIT, "split_heads", "!pip install torch")
    insert(folder, SPLIT, "test_split_heads", "np.testing.assert_allclose = lambda *args: None")
    graded = grade("ana")
    (book,) = [one for one in graded.result.notebooks if one.name == SPLIT]

    places = {one["source"]: number for number, one in enumerate(graded.notebooks[SPLIT]["cells"], start=1)}
    assert [(one.kind, one.severity, one.where) for one in book.evidence] == [
        (
            EvidenceKind.PATCHED,
            Severity.ATTACK,
            f"cell {places['np.testing.assert_allclose = lambda *args: None']}",
        ),
        (EvidenceKind.REFUSED_CALL, Severity.NOTICE, f"cell {places['!pip install torch']}"),
    ]
    assert graded.notebooks[SPLIT]["metadata"]["autograder"]["evidence"] == [
        one.to_dict() for one in book.evidence
    ]
    assert graded.result.auto_score == 18


def test_the_release_as_it_is_earns_nothing(grade: Grade, hand_in: HandIn) -> None:
    """No check passes an empty cell, and the empty answer needs no person."""
    hand_in("ana", blank=True)
    graded = grade("ana")

    assert set(scores(graded).values()) == {Decimal(0)}
    checks = [check for book in graded.result.notebooks for one in book.cells for check in one.checks]
    assert {check.outcome for check in checks} <= {Outcome.ERROR, Outcome.MISSING}
    assert {check.misconception for check in checks} == {""}


@pytest.mark.parametrize(
    ("variants", "cells"),
    [
        (("split_reshape_only",), {"test_split_heads"}),
        (("scale_missing", "merge_sums"), {"test_forward", "test_merge_heads"}),
    ],
)
def test_a_mistake_costs_its_cell_and_has_its_name(
    grade: Grade, hand_in: HandIn, variants: tuple[str, ...], cells: set[str]
) -> None:
    """Through the student's process as in ours."""
    hand_in("ana", *variants)
    graded = grade("ana")
    failed = [
        check
        for book in graded.result.notebooks
        for one in book.cells
        for check in one.checks
        if check.outcome is not Outcome.PASSED
    ]

    assert lost(graded) == cells
    assert {check.misconception for check in failed} == set(variants)


def test_the_graded_notebook_shows_score_report_and_outputs(grade: Grade, hand_in: HandIn) -> None:
    """The score first, as nbgrader reads it, then the table, then what the cell showed."""
    folder = hand_in("ana", "split_reshape_only")
    insert(folder, SPLIT, "split_heads", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint('mine')")
    graded = grade("ana")
    notebook = graded.notebooks[SPLIT]
    score, report, *shown = cell(notebook, "test_split_heads")["outputs"]
    earned = scores(graded)["test_split_heads"]

    assert earned is not None
    assert score["output_type"] == "execute_result"
    assert score["data"]["text/plain"] == str(float(earned))
    assert "✗" in report["data"]["text/plain"]
    assert "<table>" in report["data"]["text/html"]
    assert shown[0]["output_type"] == "error"
    scratch = next(one for one in notebook["cells"] if "print('mine')" in one["source"])
    assert "mine\n" in [output.get("text") for output in scratch["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in scratch["outputs"])


def test_no_hidden_number_is_in_a_graded_notebook(grade: Grade, hand_in: HandIn) -> None:
    """A student who prints and keeps every argument reads none of them afterwards."""
    folder = hand_in("ana")
    spy = (
        "seen = []\n"
        "def split_heads(x, n_heads):\n"
        "    seen.append(x); print('SEEN', x); __import__('sys').stderr.write('SEEN')\n"
        "    raise ValueError(f'SEEN {x}')"
    )
    change(folder, SPLIT, "split_heads", spy)
    notebook = read_notebook(folder / f"{SPLIT}.ipynb")
    notebook["cells"].append(code_cell("last", "print(len(seen))"))
    write_notebook(folder / f"{SPLIT}.ipynb", notebook)
    graded = grade("ana")
    shown = [output for one in graded.notebooks[SPLIT]["cells"] for output in one.get("outputs", [])]
    visible = sum("SEEN" in str(output) for output in shown)

    # The visible assert calls it too, and that call's output is the student's to see.
    assert visible == sum(
        "SEEN" in str(o) for o in cell(graded.notebooks[SPLIT], "test_split_heads")["outputs"]
    )
    assert "SEEN" not in graded.result.to_json()
    assert "SEEN" not in str(cell(graded.notebooks[SPLIT], "test_split_heads")["outputs"][:2])


def test_no_hidden_number_is_in_a_picture(grade: Grade, hand_in: HandIn) -> None:
    """Wrong code is asked about an example of the lesson, and could answer with what it has seen before."""
    folder = hand_in("ana")
    spy = (
        "seen = []\n"
        "def split_heads(x, n_heads):\n"
        "    seen.append(x)\n"
        "    hidden = [number for one in seen for number in one.ravel() if number % 1]\n"
        "    return np.full((n_heads, len(x), 3), len(hidden))"
    )
    change(folder, SPLIT, "split_heads", spy)

    drawn = [
        picture.theirs
        for notebook in grade("ana").result.notebooks
        for one in notebook.cells
        if one.grade_id == "test_split_heads"
        for picture in one.illustrations
    ]

    assert drawn
    assert {number for panels in drawn for panel in panels for row in panel for number in row} == {0}


def test_an_answer_that_none_of_ours_would_give_stops_nobody(grade: Grade, hand_in: HandIn) -> None:
    """A list deeper than lists are sent, from a worker that was told to send it."""
    folder = hand_in("ana")
    deep = (
        "def split_heads(*_):\n"
        "    import autograder.wire.encoding as encoding\n"
        "    encoding.MAX_DEPTH = 1000\n"
        "    value = 1.5\n"
        "    for _ in range(DEPTH): value = [value]\n"
        "    return value"
    )
    for depth in (46, 47, 48, 49, 50, 51):
        change(folder, SPLIT, "split_heads", deep.replace("DEPTH", str(depth)))

        assert "test_split_heads" in lost(grade("ana"))


def test_an_exception_in_a_scratch_cell_costs_nothing(grade: Grade, hand_in: HandIn) -> None:
    """Nor does a warning, a print, an exit or a changed folder."""
    folder = hand_in("ana")
    for source in ("1 / 0", "import warnings; warnings.warn('x')", "exit()", "import os; os.chdir('/')"):
        insert(folder, SPLIT, "split_heads", source)

    assert grade("ana").result.auto_score == 18


def test_a_syntax_error_costs_its_cell(grade: Grade, hand_in: HandIn) -> None:
    """The rest of the notebook is worth its points."""
    change(hand_in("ana"), SPLIT, "merge_heads", "def merge_heads(heads)\n    return heads")

    assert lost(grade("ana")) == {"test_merge_heads"}


def test_a_loop_costs_its_cell(course: Course, hand_in: HandIn) -> None:
    """Whether it can be interrupted or must be killed."""
    folder = hand_in("ana")
    change(folder, SPLIT, "merge_heads", "def merge_heads(heads):\n    while True: pass")
    change(folder, FORWARD, "heads_differ", "def heads_differ(attn):\n    return sum(range(10**12))")
    with Grader(course, load_settings(course.root, wall_time_s=1.0)) as impatient:
        graded = impatient.grade_submission(ASSIGNMENT, "ana")
    outcomes = {
        check.outcome
        for book in graded.result.notebooks
        for one in book.cells
        if one.grade_id in {"test_merge_heads", "test_heads_differ"}
        for check in one.checks
    }

    assert lost(graded) == {"test_merge_heads", "test_heads_differ"}
    assert outcomes == {Outcome.LIMIT}


def test_a_missing_notebook_scores_nothing_and_is_said_to_be_missing(grade: Grade, hand_in: HandIn) -> None:
    """Those handed in are graded."""
    (hand_in("ana") / f"{FORWARD}.ipynb").unlink()
    graded = grade("ana")

    assert [book.status for book in graded.result.notebooks] == [Status.GRADED, Status.GRADED, Status.MISSING]
    assert graded.result.auto_score == 10
    assert graded.result.max_score == 21


def test_other_notebooks_are_told_and_left_alone(grade: Grade, hand_in: HandIn) -> None:
    """A copy under another name is not graded."""
    folder = hand_in("ana")
    (folder / "copy of exercise 3.ipynb").write_text("{}", encoding="utf-8")

    assert grade("ana").ignored == ("copy of exercise 3",)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"cells": 3, "nbformat": 4}', "\x00"])
def test_a_damaged_notebook_has_no_score_and_costs_no_other(grade: Grade, hand_in: HandIn, text: str) -> None:
    """Its cells wait for a person and say why; the other notebooks are graded."""
    folder = hand_in("ana")
    (folder / f"{SPLIT}.ipynb").write_text(text, encoding="utf-8")
    (folder / f"{FORWARD}.ipynb").unlink()

    graded = grade("ana")
    one, two, three = graded.result.notebooks

    assert [one.status, two.status, three.status] == [Status.GRADED, Status.UNREADABLE, Status.MISSING]
    assert one.auto_score == graded.result.auto_score == 4
    assert {cell.outcome for cell in two.cells} == {Outcome.NOT_GRADED}
    assert {cell.auto_score for cell in two.cells} == {None}
    assert all(cell.not_graded.startswith(f"{SPLIT}.ipynb: ") for cell in two.cells)


def test_what_stands_for_a_damaged_notebook_says_so_and_is_read_back(grade: Grade, hand_in: HandIn) -> None:
    """Staff open it in formgrader, and the report is written from it."""
    folder = hand_in("ana")
    (folder / f"{SPLIT}.ipynb").rename(folder / f"{SPLIT} (1).ipynb")
    (folder / f"{SPLIT} (1).ipynb").write_text('{"cells": [', encoding="utf-8")
    (folder / f"{FORWARD}.ipynb").unlink()
    graded = grade("ana")
    write_files(graded_course := Course(root=folder.parents[2]), graded)

    notice, *cells = graded.notebooks[SPLIT]["cells"]
    reason = graded.result.notebooks[1].cells[0].not_graded

    assert f"    {reason}" in notice["source"]
    assert [grade_id_of(one) for one in cells] == [one.grade_id for one in graded.result.notebooks[1].cells]
    assert [one.kind for one in graded.result.notebooks[1].repairs] == [RepairKind.NAME]
    assert read_result(graded_course, ASSIGNMENT, "ana") == graded.result


def test_a_misnamed_notebook_is_graded_with_the_files_beside_it(grade: Grade, hand_in: HandIn) -> None:
    """In a folder of its own it finds what it reads, and that it was found is told."""
    folder = hand_in("ana")
    insert(folder, SPLIT, "merge_heads", "numbers = open('numbers.txt').read()")
    insert(folder, SPLIT, "test_merge_heads", "merge_heads = merge_heads if numbers == '1 2' else None")
    (folder / "mine").mkdir()
    (folder / "mine" / "numbers.txt").write_text("1 2", encoding="utf-8")
    (folder / f"{SPLIT}.ipynb").rename(folder / "mine" / f"{SPLIT}-Copy1.ipynb")
    (folder / f"{FORWARD}.ipynb").unlink()

    graded = grade("ana")

    assert graded.result.auto_score == 10
    assert [str(one) for one in graded.result.notebooks[1].repairs] == [
        f"mine/{SPLIT}-Copy1.ipynb: taken for {SPLIT}.ipynb, which it alone can be"
    ]
    about = graded.notebooks[SPLIT]["metadata"]["autograder"]
    assert about["repairs"] == [one.to_dict() for one in graded.result.notebooks[1].repairs]


def test_grading_repeats(grade: Grade, hand_in: HandIn) -> None:
    """A re-grade gives the same result and the same notebooks, random inputs included."""
    hand_in("ana", "softmax_over_queries")
    first, second = grade("ana"), grade("ana")

    assert first.result == second.result
    assert [dump_notebook(book) for book in first.notebooks.values()] == [
        dump_notebook(book) for book in second.notebooks.values()
    ]
