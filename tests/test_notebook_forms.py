"""Notebooks of any encoding, format and age, read as what they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from notebook_files import CELLS, NOTEBOOK, TEXT, refused, saved

from autograder.errors import SubmissionError
from autograder.findings import RepairKind
from autograder.notebook import read_notebook, read_submitted
from autograder.reading import reader

ROOT = Path(__file__).parent.parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the place of a notebook."""
    return tmp_path / "a.ipynb"


def kinds(path: Path) -> list[RepairKind]:
    """Return the kinds of what was put right."""
    return [one.kind for one in read_submitted(path)[1]]


@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_every_encoding_and_line_end_is_the_same_notebook(
    path: Path,
    codec: str,
    end: str,
    mark: bool,  # noqa: FBT001 - a case
) -> None:
    """Editors on Windows save in all of these; wide characters are told, the rest is everyday."""
    text = ("\ufeff" if mark else "") + TEXT.replace("\n", end)
    saved(path, text.encode(codec))

    notebook, repairs = read_submitted(path)

    assert notebook == NOTEBOOK
    assert [one.kind for one in repairs] == ([] if codec == "utf-8" else [RepairKind.ENCODING])
    assert reader.read(path, error=SubmissionError, whole_bytes=0)[0]["cells"][0] == CELLS[0]


def older(text: str) -> str:
    """Return a notebook in format 3, as nbformat itself writes it."""
    import nbformat  # noqa: PLC0415 - it takes seconds

    node = nbformat.convert(nbformat.reads(text, 4), 3)  # type: ignore[no-untyped-call]
    return nbformat.writes(node, 3)  # type: ignore[no-untyped-call, no-any-return]


@pytest.mark.parametrize("name", ["release", "solved"])
def test_format_3_is_read_as_nbformat_reads_it(path: Path, name: str) -> None:
    """Old editors and old courses still write it."""
    import nbformat  # noqa: PLC0415 - it takes seconds

    found = next(ROOT.glob(f"{'release' if name == 'release' else 'solutions'}/*/exercise2*.ipynb"))
    text = found.read_text(encoding="utf-8")
    error = {"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["t"]}
    book = json.loads(text)
    book["cells"][1] |= {"cell_type": "code", "outputs": [error, *CELLS[1]["outputs"]], "execution_count": 4}
    book["cells"].append({"cell_type": "markdown", "metadata": {}, "source": "## A heading", "id": "h"})
    old = older(json.dumps(book))
    assert '"level": 2' in old
    assert '"pyerr"' in old

    notebook, repairs = read_submitted(saved(path, old))

    expected = nbformat.reads(old, 4)  # type: ignore[no-untyped-call]
    for cell in expected["cells"]:
        del cell["id"]
    assert notebook["cells"] == expected["cells"]
    assert [str(one) for one in repairs] == ["a.ipynb: it is of nbformat 3; converted"]


@pytest.mark.parametrize(
    "worksheets",
    [[], [{}], [{"cells": []}, {"cells": [None, {"cell_type": "heading", "level": "x", "source": 3}]}]],
)
def test_odd_worksheets_are_read(path: Path, worksheets: list[Any]) -> None:
    """What is below the list of cells may be anything."""
    saved(path, json.dumps({"nbformat": 3, "worksheets": worksheets, "metadata": 4}))

    assert kinds(path)[0] is RepairKind.FORMAT


@pytest.mark.parametrize("told", [4, "4", "4.5", "v4", 4.0, None, 3])
def test_the_format_may_be_told_in_any_way(path: Path, told: object) -> None:
    """Only a whole 4 is as it should be; a list of cells is format 4 whatever is said."""
    saved(path, json.dumps(NOTEBOOK | {"nbformat": told, "nbformat_minor": 99}))

    notebook, repairs = read_submitted(path)

    assert notebook["cells"] == CELLS
    assert [one.kind for one in repairs] == ([] if told == 4 and type(told) is int else [RepairKind.FORMAT])


def test_a_format_that_is_not_told_is_read_and_said(path: Path) -> None:
    """Some programs leave it out."""
    saved(path, json.dumps({"cells": CELLS}))

    assert kinds(path) == [RepairKind.FORMAT]


@pytest.mark.parametrize("told", [5, 1, 0, -4, "five", [4], {}, True, 4.5, 10**30, "9" * 100_000])
def test_another_format_is_refused(path: Path, told: object) -> None:
    """Nobody knows what its cells would mean; a reason stays short whatever is said."""
    error = refused(path, json.dumps(NOTEBOOK | {"nbformat": told}))

    assert "is a notebook of nbformat" in error.what
    assert len(error.what) < 100


@pytest.mark.parametrize(
    ("source", "text", "damaged"),
    [
        ("x = 1\r\ny = 2\r", "x = 1\ny = 2\n", False),
        (["x = 1\n", "y = 2"], "x = 1\ny = 2", False),
        (["x = 1\n", None, 3, ["a"], "y = 2"], "x = 1\ny = 2", True),
        (None, "", False),
        ({"a": 1}, "", True),
        (7, "", True),
    ],
)
def test_a_source_is_a_text(path: Path, source: object, text: str, damaged: bool) -> None:  # noqa: FBT001 - a case
    """What is text in it is kept, and what is not is said."""
    saved(path, json.dumps({"nbformat": 4, "cells": [3, {"cell_type": "code", "source": source}]}))

    notebook, repairs = read_submitted(path)

    assert notebook["cells"] == [3, {"cell_type": "code", "source": text}]
    assert [(one.kind, one.where) for one in repairs] == [(RepairKind.DAMAGED, "cell 2")] * damaged


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": None, "language_info": None},
        {"kernelspec": {"name": "conda-env-ml-py", "language": "python"}},
        {"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "python"}},
        {"kernelspec": {"name": "sagemath", "language": "sage"}},
        {"kernelspec": [1], "language_info": "R"},
        {"language_info": {"name": ["R"]}},
        "none",
        None,
    ],
)
def test_a_foreign_kernel_is_no_reason_to_refuse(path: Path, metadata: object) -> None:
    """The course's kernel runs the cells, whatever the student's is called."""
    saved(path, json.dumps(NOTEBOOK | {"metadata": metadata}))

    assert read_submitted(path)[0]["cells"] == CELLS


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "R"}}, "R"),
        ({"kernelspec": {"name": "ir"}}, "R"),
        ({"kernelspec": {"name": "julia-1.10", "language": "julia"}}, "Julia"),
        ({"kernelspec": {"name": "Julia-1.6"}}, "Julia"),
        ({"language_info": {"name": "c++"}}, "C++"),
    ],
)
def test_another_language_is_refused(path: Path, metadata: object, language: str) -> None:
    """Its cells cannot be run."""
    error = refused(path, json.dumps(NOTEBOOK | {"metadata": metadata}))

    assert error.what == f"is a notebook in {language}, not in Python"
    assert "Python 3" in error.remedy


def test_halves_of_characters_are_replaced_and_told(path: Path) -> None:
    """They cannot be stored; halves that belong together are joined."""
    raw = b'{"nbformat": 4, "cells": [{"source": "\\ud83d \\ud83d\\ude00 \\\\ud83d'
    raw += "\ud83d\ude00 \udc00".encode("utf-8", "surrogatepass") + b'"}]}'

    notebook, repairs = read_submitted(saved(path, raw))

    assert notebook["cells"][0]["source"] == "\ufffd \U0001f600 \\ud83d\U0001f600 \ufffd"
    assert [one.kind for one in repairs] == [RepairKind.ENCODING]


@pytest.mark.parametrize("space", ["", "\n  "])
def test_a_comma_too_many_is_left_out_and_told(path: Path, space: str) -> None:
    """It can be read in one way only; a text that looks like one is not touched."""
    text = f'{{"nbformat": 4,\n"cells": [{{"source": "[1,]",{space}}},{space}]}}'

    notebook, repairs = read_submitted(saved(path, text))

    assert notebook["cells"] == [{"source": "[1,]"}]
    assert [one.kind for one in repairs] == [RepairKind.FORMAT]
    assert "in line 2" in repairs[0].detail


@pytest.mark.parametrize("text", ['{"cells": [1,,2]}', '{"cells": [,]}', '{"cells": [1 2,]}'])
def test_other_commas_are_not_guessed_at(path: Path, text: str) -> None:
    """What stood between them is not known."""
    assert "is damaged in line 1" in refused(path, text).what


def test_what_javascript_cannot_read_is_read(path: Path) -> None:
    """Python writes NaN into metadata, and nothing depends on it."""
    saved(path, '{"nbformat": 4, "metadata": {"loss": NaN, "best": -Infinity}, "cells": []}')

    assert read_submitted(path)[0]["cells"] == []


def test_read_notebook_reads_what_read_submitted_reads(path: Path) -> None:
    """One way to read for all commands; a grader's own outputs are kept."""
    saved(path, TEXT.encode("utf-16"))

    assert (
        read_notebook(path) == read_submitted(path)[0] == NOTEBOOK | {"cells": read_notebook(path)["cells"]}
    )
    assert read_notebook(path)["cells"][1]["outputs"] != []
