"""Repair: whatever happened to a notebook, every graded cell is there, once and in order."""

from __future__ import annotations

import copy
import random
from typing import Any

from handouts import SPLIT, graded_cells, handed_out, named
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.repair import repair

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
