"""Repair: whatever happened to a notebook, every graded cell is there, once and in order."""

from __future__ import annotations

import copy
import random
import time
from typing import TYPE_CHECKING, Any

import pytest
from damaged import NAMES, RELEASE, RELEASED
from damages import Damaged, failed_tests
from handouts import SPLIT, graded_cells, handed_out, named
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course.handout import released_notebook
from autograder.submission.repair import repair

if TYPE_CHECKING:
    from autograder.course.released import ReleasedNotebook
    from autograder.notebook import Cell, Notebook

ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=5),
    st.lists(st.text(max_size=3)),
    st.dictionaries(st.text(), st.none()),
)
GRADE_IDS = [cell.grade_id for cell in SPLIT.cells]


def mutate(cells: list[Any], kind: int, draw: st.DataObject, rng: random.Random) -> None:
    """Damage a notebook as students and editors do."""
    if kind == 0:
        rng.shuffle(cells)
        return
    at = rng.randrange(len(cells) + 1)
    if kind == 1 or at == len(cells):
        cells.insert(at, draw.draw(ODD) if kind == 1 else {"cell_type": "code", "source": "mine = 1"})
        return
    cell = cells[at]
    if kind == 2:
        del cells[at]
    elif kind == 3:
        cells.insert(rng.randrange(len(cells)), copy.deepcopy(cell))
    elif isinstance(cell, dict):
        mutate_cell(cell, kind, draw, rng)


def mutate_cell(cell: dict[str, Any], kind: int, draw: st.DataObject, rng: random.Random) -> None:
    """Damage one cell."""
    if kind == 4:
        cell[rng.choice(["source", "metadata", "cell_type", "id", "outputs", "attachments"])] = draw.draw(ODD)
    elif kind == 5:
        cell["metadata"] = {"nbgrader": draw.draw(ODD), "tags": draw.draw(ODD)}
    elif isinstance(cell.get("metadata"), dict) and isinstance(cell["metadata"].get("nbgrader"), dict):
        key = rng.choice(["grade", "solution", "locked", "task", "points", "grade_id", "checksum"])
        cell["metadata"]["nbgrader"][key] = draw.draw(
            st.one_of(st.sampled_from(GRADE_IDS), ODD, st.booleans())
        )


@settings(deadline=None, max_examples=300)
@given(kinds=st.lists(st.integers(0, 6), max_size=12), seed=st.integers(0, 2**32), draw=st.data())
def test_every_graded_cell_is_there_once_and_in_order(
    kinds: list[int], seed: int, draw: st.DataObject
) -> None:
    """No damage stops a batch, and repairing twice is repairing once."""
    rng = random.Random(seed)  # noqa: S311 - a repeatable shuffle
    submitted = handed_out(SPLIT)
    for kind in kinds:
        mutate(submitted["cells"], kind, draw, rng)
    before = copy.deepcopy(submitted)

    notebook, _, _ = repair(submitted, SPLIT)
    again, _, _ = repair(notebook, SPLIT)

    assert submitted == before
    assert graded_cells(notebook) == [cell.grade_id for cell in SPLIT.graded]
    for record in SPLIT.cells:
        if record.kind.locked:
            assert named(notebook, record.grade_id)["source"] == record.source
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert again == notebook


@pytest.mark.parametrize(
    ("name", "count", "seeds"), [(NAMES[0], 1, 80), (NAMES[0], 3, 160), (NAMES[1], 2, 80), (NAMES[2], 2, 20)]
)
def test_damage_that_keeps_every_answer_costs_nothing(name: str, count: int, seeds: int) -> None:
    """Every test passes, whatever happened to the form; all cells are there; a second repair does nothing."""
    assert failed_tests(repair(Damaged(name, 0, 0).notebook, RELEASED[name])[0], name) == {}
    for seed in range(seeds):
        damaged = Damaged(name, seed, count)
        before = copy.deepcopy(damaged.notebook)

        notebook, _, _ = repair(damaged.notebook, damaged.released)

        assert damaged.notebook == before
        assert failed_tests(notebook, name) == {}, (seed, damaged.log)
        assert graded_cells(notebook) == [cell.grade_id for cell in damaged.released.graded]
        assert repair(notebook, damaged.released)[0] == notebook, (seed, damaged.log)


def test_the_judge_of_damages_sees_a_lost_answer() -> None:
    """A law that no notebook can break says nothing."""
    for name in NAMES:
        notebook, _, _ = repair(RELEASE[name], RELEASED[name])

        assert len(failed_tests(notebook, name)) == sum(
            cell.hidden_check is not None for cell in RELEASED[name].graded
        )


# -------------------------------------------------------------------------- cost

ANSWERS = 100
CELLS = 5_000


def code(source: str, grade_id: str = "", **flags: Any) -> Cell:
    """Return a code cell."""
    stock = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    metadata = {"nbgrader": stock | {"grade_id": grade_id, "points": 1} | flags} if grade_id else {}
    return {"cell_type": "code", "source": source, "metadata": metadata, "id": grade_id}


def large() -> tuple[Notebook, ReleasedNotebook]:
    """Return a notebook of 200 cells as it is handed out, and what is known of it."""
    cells = []
    for number in range(ANSWERS):
        stub = f"def f{number}(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
        cells.append(code(stub, f"answer{number}", solution=True))
        test = f"assert f{number}(1) == {number}, 'no'\nassert f{number}(2) == {number}"
        cells.append(code(test, f"test{number}", grade=True, locked=True))
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return notebook, released_notebook("large", notebook, notebook)


def one_answer(number: int) -> Cell:
    """Claim the same answer again and again."""
    return code(f"def f0(x):\n    return {number}", "answer0", solution=True)


def any_definition(number: int) -> Cell:
    """Define what is asked for, in one line."""
    return code(f"x = 1; f{number % ANSWERS} = {number}")


def nearly_a_test(number: int) -> Cell:
    """Copy most of a test."""
    at = number % ANSWERS
    return code(f"assert f{at}(1) == {at}, 'no'\nassert f{at}(2) != {number}")


def part_of_a_function(number: int) -> Cell:
    """Look like a part of something."""
    return code("    return (1," if number % 2 else f"def f{number % ANSWERS}(x):\n    if x:")


@pytest.mark.parametrize("make", [one_answer, any_definition, nearly_a_test, part_of_a_function])
def test_the_cost_of_a_hostile_notebook_is_bounded(make: Any) -> None:
    """Five thousand cells against two hundred take seconds of processor time; all with all takes minutes."""
    notebook, released = large()
    notebook = notebook | {"cells": [cell for cell in notebook["cells"] if "answer" not in cell["id"]]}
    notebook["cells"] += [make(number) for number in range(CELLS)]
    begun_s = time.process_time()

    _, repairs, evidence = repair(notebook, released)

    assert time.process_time() - begun_s < 15
    assert len(repairs) + len(evidence) < 300
