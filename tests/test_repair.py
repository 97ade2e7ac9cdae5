"""Repair: what happened to a notebook is undone, and what is worth it is told."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from handouts import ASSIGNMENT, COURSE, RELEASED, SPLIT, filled, graded_cells, handed_out, named

from autograder.course.released import ReleasedNotebook, checksum, grade_id_of, unanswered
from autograder.notebook import Notebook, dump_notebook, read_notebook
from autograder.submission.repair import repair


@pytest.mark.parametrize("released", RELEASED, ids=lambda released: released.name)
def test_an_honest_notebook_gives_no_note(released: ReleasedNotebook) -> None:
    """Course staff can trust a note: tests that hide lines are no tampering."""
    submitted = filled(released)

    notebook, repairs, _ = repair(submitted, released)

    assert repairs == ()
    assert [cell["id"] for cell in notebook["cells"]] == [cell["id"] for cell in submitted["cells"]]
    assert graded_cells(notebook) == [cell.grade_id for cell in released.graded]
    for cell in notebook["cells"]:
        if grade_id := grade_id_of(cell):
            record = released.cell(grade_id)
            assert cell["source"] == (record.source if record.kind.locked else f"my {grade_id} = 1")


def test_test_cells_get_their_hidden_lines_back() -> None:
    """As nbgrader does, so that its own tools read the autograded notebook."""
    notebook, _, _ = repair(handed_out(SPLIT), SPLIT)

    assert 'run_checks("test_split_heads")' in named(notebook, "test_split_heads")["source"]


def test_outputs_counts_and_tags_are_gone() -> None:
    """What a student's own run left behind proves nothing."""
    submitted = filled(SPLIT)
    for cell in submitted["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "execute_result", "data": {"text/plain": "3.0"}}]
            cell["execution_count"] = 7

    notebook, repairs, _ = repair(submitted, SPLIT)

    for cell in notebook["cells"]:
        assert "tags" not in cell["metadata"]
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert "test_split_heads: it was tagged skip-execution; tags removed" in list(map(str, repairs))


def test_notes_are_few_whatever_a_student_hands_in() -> None:
    """A million of them are read by nobody, and must not bury the one that matters."""
    submitted = filled(SPLIT)
    strange = {"grade": True, "locked": True, "points": 1, "schema_version": 3}
    for number in range(1000):
        nbgrader = strange | {"grade_id": f"{number}" * 500}
        cell = {"cell_type": "code", "source": "", "metadata": {"nbgrader": nbgrader, "autograder": {}}}
        submitted["cells"] += [None, cell]
    named(submitted, "test_merge_heads")["source"] = "pass"

    _, repairs, _ = repair(submitted, SPLIT)

    assert "test_merge_heads: its source was edited; replaced" in list(map(str, repairs))
    assert "notebook: 980 more cells like these" in list(map(str, repairs))
    assert len(repairs) < 100
    assert max(len(str(one)) for one in repairs) < 400


def test_results_of_a_grader_are_not_believed() -> None:
    """A forged result in the metadata must not reach a page or the gradebook."""
    submitted = filled(SPLIT)
    submitted["metadata"]["autograder"] = {"status": "graded"}
    named(submitted, "test_split_heads")["metadata"]["autograder"] = {"checks": []}

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert '"autograder"' not in dump_notebook(notebook)
    assert any("results of a grader" in note for note in map(str, repairs))


def change(submitted: Notebook, name: str, **changes: Any) -> None:
    """Change a cell's nbgrader metadata."""
    named(submitted, name)["metadata"]["nbgrader"].update(changes)


def test_an_edited_test_is_replaced_and_told() -> None:
    """The instructor's test decides, not the student's copy of it."""
    submitted = filled(SPLIT)
    named(submitted, "test_split_heads")["source"] = "pass"

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert list(map(str, repairs)) == ["test_split_heads: its source was edited; replaced"]
    assert named(notebook, "test_split_heads")["source"] == SPLIT.cell("test_split_heads").source


def test_line_ends_and_trailing_blanks_are_no_tampering() -> None:
    """Editors change them without being asked."""
    submitted = filled(SPLIT)
    cell = named(submitted, "test_split_heads")
    cell["source"] = cell["source"].replace("\n", " \r\n")

    _, repairs, _ = repair(submitted, SPLIT)

    assert repairs == ()


def test_a_solved_or_graded_copy_is_told() -> None:
    """A submission with the hidden tests in it came from where no student should be."""
    notebook, _, _ = repair(filled(SPLIT), SPLIT)

    _, repairs, _ = repair(notebook, SPLIT)

    assert "test_split_heads: it came with its hidden tests in it" in list(map(str, repairs))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"points": 200}, "points"),
        ({"grade": False}, "grade"),
        ({"solution": True}, "solution"),
        ({"grade": False, "solution": False, "locked": False}, "grade, locked"),
        ({"task": True}, "task"),
    ],
)
def test_changed_flags_and_points_are_put_back(changes: dict[str, Any], told: str) -> None:
    """The points of a cell are the instructor's, whatever the student's file says."""
    submitted = filled(SPLIT)
    change(submitted, "test_split_heads", **changes)

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert tuple(map(str, repairs)) == (
        f"test_split_heads: its nbgrader metadata was changed ({told}); put back",
    )
    metadata = named(notebook, "test_split_heads")["metadata"]["nbgrader"]
    released = SPLIT.cell("test_split_heads")
    assert metadata == {**released.metadata["nbgrader"], "checksum": released.checksum}


@pytest.mark.parametrize("cell_type", ["markdown", "raw"])
def test_a_test_cell_turned_into_text_is_code_again(cell_type: str) -> None:
    """A key pressed by mistake turns a cell into text, and nbgrader would give no score."""
    submitted = filled(SPLIT)
    cell = named(submitted, "test_split_heads")
    cell["cell_type"] = cell_type
    del cell["outputs"]

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert tuple(map(str, repairs)) == (
        f"test_split_heads: it was changed to a {cell_type} cell; changed back",
    )
    assert named(notebook, "test_split_heads")["cell_type"] == "code"


@pytest.mark.parametrize("renamed", [True, False])
@pytest.mark.parametrize("with_id", [True, False])
def test_lost_metadata_is_found_again(*, renamed: bool, with_id: bool) -> None:
    """Some editors strip metadata; the cell's id, or its text, tells which one it was."""
    submitted = filled(SPLIT)
    cell = named(submitted, "test_split_heads")
    if renamed:
        change(submitted, "test_split_heads", grade_id="mine")
    else:
        del cell["metadata"]["nbgrader"]
    if not with_id:
        del cell["id"]

    notebook, repairs, _ = repair(submitted, SPLIT)

    was = "renamed to 'mine'" if renamed else "removed"
    assert list(map(str, repairs)) == [f"test_split_heads: its nbgrader metadata was {was}; put back"]
    assert graded_cells(notebook) == [cell.grade_id for cell in SPLIT.graded]


def test_a_notebook_stripped_of_everything_is_rebuilt() -> None:
    """Through an editor that keeps neither metadata nor ids, answers still count as answers."""
    submitted = filled(SPLIT)
    for cell in submitted["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    answers = [f"my {name} = 1" for name in ("split_heads", "merge_heads", "explain_reshape_order")]

    notebook, _, _ = repair(submitted, SPLIT)

    assert graded_cells(notebook) == [cell.grade_id for cell in SPLIT.graded]
    for name, answer in zip(("split_heads", "merge_heads", "explain_reshape_order"), answers, strict=True):
        assert named(notebook, name)["source"] == answer
    assert unanswered(notebook, SPLIT) == frozenset()


def test_a_deleted_test_comes_back_after_the_answer() -> None:
    """Deleting a test must neither earn points nor leave the grade open."""
    submitted = filled(SPLIT)
    cells = submitted["cells"]
    at = cells.index(named(submitted, "test_split_heads"))
    cells[at] = {"cell_type": "code", "source": "split_heads = better", "metadata": {}}

    notebook, repairs, _ = repair(submitted, SPLIT)

    order = [cell["source"] for cell in notebook["cells"]]
    test = SPLIT.cell("test_split_heads").source
    assert list(map(str, repairs)) == ["test_split_heads: it was missing; put back"]
    assert order.index("my split_heads = 1") < order.index("split_heads = better") < order.index(test)
    assert order.index(test) < order.index("my merge_heads = 1")


def test_an_answer_in_a_cell_of_its_own_stands_for_a_deleted_one() -> None:
    """The answer counts wherever the student wrote it, and the stub does not undo it."""
    submitted = filled(SPLIT)
    cell = named(submitted, "split_heads")
    cell["metadata"] = {}
    cell["id"] = "mine"
    cell["source"] = "def split_heads(): ..."

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert named(notebook, "split_heads")["source"] == "def split_heads(): ..."
    assert tuple(map(str, repairs)) == (
        "split_heads: it was missing; the student's cell in its place stands for it",
    )


def test_a_deleted_solution_cell_is_noted_and_stays_deleted() -> None:
    """Its stub would raise, or overwrite an answer written elsewhere."""
    submitted = filled(SPLIT)
    submitted["cells"].remove(named(submitted, "split_heads"))

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert list(map(str, repairs)) == ["split_heads: it is missing"]
    assert "split_heads" not in [grade_id_of(cell) for cell in notebook["cells"]]


def test_a_deleted_written_answer_is_unanswered() -> None:
    """A person must not wait for an answer that is not there."""
    submitted = filled(SPLIT)
    submitted["cells"].remove(named(submitted, "explain_reshape_order"))

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert list(map(str, repairs)) == ["explain_reshape_order: it was missing; put back without an answer"]
    assert unanswered(notebook, SPLIT) == {"explain_reshape_order"}


def test_a_copied_test_is_graded_once() -> None:
    """Copying a cell stops a whole batch of nbgrader's."""
    submitted = filled(SPLIT)
    submitted["cells"].insert(0, copy.deepcopy(named(submitted, "test_split_heads")))

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert graded_cells(notebook) == [cell.grade_id for cell in SPLIT.graded]
    assert any("there were 2 copies of it" in note for note in map(str, repairs))
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)


def test_a_split_written_answer_is_read_whole() -> None:
    """Splitting a cell copies its metadata; both halves are the answer."""
    submitted = filled(SPLIT)
    cell = named(submitted, "explain_reshape_order")
    half = copy.deepcopy(cell) | {"source": "second half"}
    submitted["cells"].insert(submitted["cells"].index(cell) + 1, half)

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert named(notebook, "explain_reshape_order")["source"] == "my explain_reshape_order = 1\n\nsecond half"
    assert list(map(str, repairs)) == ["explain_reshape_order: there were 2 copies of it; joined"]


def test_of_two_copies_of_code_the_answered_one_counts_as_the_answer() -> None:
    """A spare copy of the stub is no 'No response.'."""
    submitted = filled(SPLIT)
    stub = copy.deepcopy(named(submitted, "split_heads")) | {"source": SPLIT.cell("split_heads").released}
    submitted["cells"].insert(0, stub)

    notebook, _, _ = repair(submitted, SPLIT)

    assert named(notebook, "split_heads")["source"] == "my split_heads = 1"


def test_a_moved_test_goes_back_behind_its_answer() -> None:
    """A test above its answer would fail a right solution."""
    submitted = filled(SPLIT)
    cell = named(submitted, "test_split_heads")
    submitted["cells"].remove(cell)
    submitted["cells"].insert(0, cell)

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert list(map(str, repairs)) == ["test_split_heads: it stood in another place; put back"]
    assert graded_cells(notebook) == [cell.grade_id for cell in SPLIT.graded]
    order = [grade_id_of(cell) for cell in notebook["cells"]]
    assert order.index("split_heads") < order.index("test_split_heads") < order.index("merge_heads")


def test_the_kernel_is_the_instructors() -> None:
    """A kernel named on a student's machine does not exist here."""
    submitted = filled(SPLIT)
    submitted["metadata"] = {"kernelspec": {"name": "conda-env"}, "language_info": "python", "widgets": 1}
    submitted["nbformat_minor"] = 2

    notebook, repairs, _ = repair(submitted, SPLIT)

    assert repairs == ()
    assert notebook["metadata"] == SPLIT.metadata
    assert notebook["nbformat_minor"] == 5


def test_another_release_is_told_from_an_edit() -> None:
    """A student who worked on last week's version is no cheat."""
    submitted = filled(SPLIT)
    cell = named(submitted, "test_split_heads")
    older = read_notebook(COURSE.release(ASSIGNMENT) / f"{SPLIT.name}.ipynb")
    cell["source"] = "assert True"
    cell["metadata"]["nbgrader"]["checksum"] = checksum(
        named(older, "test_split_heads") | {"source": "assert True"}
    )

    _, repairs, _ = repair(submitted, SPLIT)

    assert list(map(str, repairs)) == ["test_split_heads: its source is that of another release; replaced"]


@pytest.mark.parametrize("answered", [0, 1])
def test_words_are_found_in_either_half_of_a_notebook_pasted_twice(answered: int) -> None:
    """Without metadata, and one half untouched: an answer that is there must not be graded as none."""
    halves = [handed_out(SPLIT), handed_out(SPLIT)]
    named(halves[answered], "explain_reshape_order")["source"] = "Reshape keeps the order of the numbers."
    cells = [cell for half in halves for cell in half["cells"]]
    for cell in cells:
        cell["metadata"] = {}
        cell.pop("id", None)

    notebook, repairs, _ = repair(halves[0] | {"cells": cells}, SPLIT)

    assert named(notebook, "explain_reshape_order")["source"] == "Reshape keeps the order of the numbers."
    assert any(str(one).startswith("explain_reshape_order: ") for one in repairs)
