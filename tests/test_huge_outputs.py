"""Outputs of any size cost little, and what is made to cost much is refused."""

from __future__ import annotations

import json
import re
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notebook_files import CELLS, TEXT, refused, saved

from autograder.findings import RepairKind
from autograder.notebook import SUBMITTED_BYTES, read_submitted
from autograder.reading import cutting, reader
from autograder.reading.cutting import Cutter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the place of a notebook."""
    return tmp_path / "a.ipynb"


odd_text = st.text(st.sampled_from([*'a"\\[]{},:\n\té😀', "\u2028"]), max_size=6)
names = st.one_of(st.sampled_from(["outputs", "cells", "metadata", "widgets", "worksheets"]), odd_text)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), odd_text),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
some_cells = st.lists(values | st.dictionaries(names, values, max_size=3), max_size=4)
books = st.dictionaries(names, values, max_size=2).flatmap(
    lambda more: st.fixed_dictionaries(
        {},
        optional={
            "cells": some_cells,
            "worksheets": st.lists(st.fixed_dictionaries({"cells": some_cells}), max_size=2),
        },
    ).map(lambda book: more | book)
)


def without_outputs(book: Any) -> Any:
    """Return a notebook whose lists of outputs are empty."""

    def emptied(cells: Any) -> Any:
        if not isinstance(cells, list):
            return cells
        return [
            cell | {"outputs": []}
            if isinstance(cell, dict) and isinstance(cell.get("outputs"), list)
            else cell
            for cell in cells
        ]

    book = dict(book)
    if "cells" in book:
        book["cells"] = emptied(book["cells"])
    if isinstance(book.get("worksheets"), list):
        book["worksheets"] = [
            sheet | {"cells": emptied(sheet["cells"])}
            if isinstance(sheet, dict) and "cells" in sheet
            else sheet
            for sheet in book["worksheets"]
        ]
    if isinstance(book.get("metadata"), dict) and isinstance(book["metadata"].get("widgets"), dict):
        book["metadata"] = book["metadata"] | {"widgets": {}}
    return book


@settings(deadline=None, max_examples=150)
@given(
    book=books,
    size=st.sampled_from([1, 2, 3, 7, 50, 10_000]),
    indent=st.sampled_from([None, 1]),
    escaped=st.booleans(),
)
def test_outputs_are_cut_out_and_nothing_else(
    book: dict[str, Any],
    size: int,
    indent: int | None,
    escaped: bool,  # noqa: FBT001 - a case
) -> None:
    """As if the JSON were read and then emptied, wherever the pieces end and whatever it holds."""
    text = json.dumps(book, indent=indent, ensure_ascii=escaped).encode()
    cutter = Cutter()

    for at in range(0, len(text), size):
        cutter.feed(text[at : at + size])
    cutter.close()

    kept = bytes(cutter.kept)
    assert json.loads(kept) == without_outputs(book)
    assert cutter.dropped_bytes == len(text) - len(kept)
    assert cutter.dropped_lines(len(kept)) == text.count(b"\n") - kept.count(b"\n")


@pytest.mark.parametrize(
    "outputs",
    [
        '[{"output_type": "display_data", "data": {"image/png": "' + "A" * (24 * 2**20) + '"}}]',
        "["
        + ",\n".join(['{"name": "stdout", "text": ["a \\" ]} \\n' + "b" * 200 + '"], "x": 1}'] * 40_000)
        + "]",
    ],
    ids=["a picture", "a loop that printed"],
)
def test_huge_outputs_cost_little_memory(path: Path, outputs: str) -> None:
    """They are dropped unread, in pieces; what stands around them is read as ever."""
    text = TEXT.replace('"outputs": [\n', f'"outputs": {outputs}, "then": [\n', 1)
    assert len(text) > SUBMITTED_BYTES
    saved(path, text)
    del text

    tracemalloc.start()
    notebook, repairs = read_submitted(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak_bytes < 3 * SUBMITTED_BYTES
    assert [cell["source"] for cell in notebook["cells"]] == [cell["source"] for cell in CELLS]
    assert notebook["cells"][1]["outputs"] == []
    assert [one.kind for one in repairs] == [RepairKind.OUTPUTS]
    assert re.fullmatch(r"its outputs take \d+ MiB; dropped unread", repairs[0].detail)


def test_outputs_of_an_ordinary_notebook_are_no_repair(path: Path) -> None:
    """Nearly every notebook has some."""
    assert read_submitted(saved(path, TEXT))[1] == ()


@pytest.mark.parametrize("within", [True, False])
def test_a_place_behind_dropped_outputs_is_told_right(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    within: bool,  # noqa: FBT001 - a case
) -> None:
    """The line is that of the file, not that of what is left of it."""
    monkeypatch.setattr("autograder.notebook.SUBMITTED_BYTES", 64 if within else SUBMITTED_BYTES)
    broken = TEXT.replace('"id": "c"', '"id": c')
    (line,) = [number for number, text in enumerate(broken.split("\n"), start=1) if '"id": c' in text]

    assert f"is damaged in line {line}" in refused(path, broken).what


NESTED = b"[" * 400 + b"]" * 400


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"nbformat": 4, "cells": [' + b"1" * 5000 + b"]}", "a number of thousands of digits"),
        (b'{"nbformat": 4, "cells": [' + NESTED + b"]}", "nested more than 100 levels deep"),
        (b'{"nbformat": 4, "cells": [' + b"[]," * 1_001 + b"[]]}", "millions of"),
        (b'{"nbformat": 4, "cells": [' + b'"a",' * 4_001 + b"1]}", "millions of"),
        (b'{"cells": [' + b'{"outputs": []},' * 1_001 + b"1]}", "millions of"),
        (b'{"cells": [' + b'{"outputs": []},' * 8_001 + b"1]}", "millions of"),
        (b'{"cells": [{"outputs": [' + b"[]," * 8_001 + b"1]}]}", "millions of"),
        (b'{"cells": [{"source": "' + b"\\" * 100_000 + b'"}]}', "even without its outputs"),
    ],
    ids=range(8),
)
def test_what_is_small_in_the_file_and_huge_in_memory_is_refused(
    path: Path, content: bytes, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One submission must not take what all of the class needs; the limits are a thousandth here."""
    monkeypatch.setattr(reader, "MAX_BRACKETS", reader.MAX_BRACKETS // 1000)
    monkeypatch.setattr(reader, "MAX_COMMAS", reader.MAX_COMMAS // 1000)
    monkeypatch.setattr(cutting, "MAX_BRACKETS", cutting.MAX_BRACKETS // 1000)
    monkeypatch.setattr(cutting, "MAX_BYTES", cutting.MAX_BYTES // 1000)
    monkeypatch.setattr("autograder.notebook.SUBMITTED_BYTES", SUBMITTED_BYTES // 1000)

    assert told in refused(path, content).what


def test_a_file_of_brackets_is_refused(path: Path) -> None:
    """JSON's reader gives up on it in another way."""
    assert "nested more than 100 levels deep" in refused(path, b"[" * 100_000).what


def test_dropped_outputs_may_be_nested(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built of them."""
    monkeypatch.setattr("autograder.notebook.SUBMITTED_BYTES", 1000)
    saved(path, b'{"nbformat": 4, "cells": [{"outputs": [' + NESTED * 1_000 + b"]}]}")

    assert read_submitted(path)[0]["cells"] == [{"outputs": [], "source": ""}]
