"""Reading and writing notebooks: what goes in comes out, and damage is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import NotebookError, SubmissionError
from autograder.notebook import dump_notebook, joined, read_notebook, write_notebook

ROOT = Path(__file__).parent.parent
BUILT = sorted(ROOT.glob("release/*/*.ipynb")) + sorted(ROOT.glob("solutions/*/*.ipynb"))

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
bundles = st.dictionaries(st.sampled_from(["text/plain", "text/html", "image/png"]), text, max_size=2)
outputs = st.one_of(
    st.builds(lambda data: {"output_type": "display_data", "data": data, "metadata": {}}, bundles),
    st.builds(lambda words: {"output_type": "stream", "name": "stdout", "text": words}, text),
    st.builds(
        lambda value: {"output_type": "display_data", "data": {"application/json": value}}, st.lists(text)
    ),
    st.builds(lambda words: {"output_type": "error", "ename": "E", "evalue": "", "traceback": [words]}, text),
)
cells = st.one_of(
    st.builds(
        lambda source, out: {"cell_type": "code", "source": source, "outputs": out, "metadata": {}},
        text,
        st.lists(outputs, max_size=3),
    ),
    st.builds(
        lambda source, bundle: {"cell_type": "markdown", "source": source, "attachments": {"a.png": bundle}},
        text,
        bundles,
    ),
)
notebooks = st.builds(
    lambda some: {"cells": some, "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
    st.lists(cells, max_size=4),
)


@settings(deadline=None)
@given(notebook=notebooks)
def test_what_is_written_is_read_back(
    notebook: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A graded notebook must survive the disk exactly."""
    path = tmp_path_factory.getbasetemp() / "round_trip.ipynb"

    write_notebook(path, notebook)

    assert read_notebook(path) == notebook


@pytest.mark.parametrize("path", BUILT, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_nbformats_own_files_are_written_back_byte_for_byte(path: Path) -> None:
    """A notebook that passed through the kit shows no difference in version control."""
    assert dump_notebook(read_notebook(path)) == path.read_text(encoding="utf-8")


def test_source_may_be_one_string_or_a_list_of_lines(tmp_path: Path) -> None:
    """Editors store both forms, and both are the same notebook."""
    path = tmp_path / "a.ipynb"
    for source in ("x = 1\ny = 2", ["x = 1\n", "y = 2"]):
        path.write_text(json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": source}]}))

        notebook = read_notebook(path)

        assert notebook["cells"][0]["source"] == "x = 1\ny = 2"


def test_odd_cells_are_read_and_written_as_they_are(tmp_path: Path) -> None:
    """Reading judges nothing below the list of cells; repair does."""
    path = tmp_path / "a.ipynb"
    odd: list[Any] = [
        None,
        {"source": 7},
        {"cell_type": "code", "outputs": [1, {"output_type": "display_data"}]},
    ]
    odd += [{"cell_type": "code", "outputs": [{"output_type": "display_data", "data": 3}], "source": [1, 2]}]
    odd += [{"cell_type": "code", "outputs": 5, "attachments": {"a": 1}}]

    write_notebook(path, {"cells": odd})

    assert read_notebook(path) == {"cells": odd}
    assert joined([1, 2]) == joined(None) == ""


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """Some Windows editors put one in front of the JSON."""
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + b'{"nbformat": 4, "cells": []}')

    assert read_notebook(path)["cells"] == []


def test_half_a_surrogate_pair_can_be_written_again(tmp_path: Path) -> None:
    """A cut emoji in a student's text must not stop the grading when the result is stored."""
    path = tmp_path / "a.ipynb"
    source = r'"\ud83d \ud83d\ude00 \ude00 \\ud83d"'
    path.write_text(
        f'{{"nbformat": 4, "cells": [{{"cell_type": "raw", "source": {source}}}]}}', encoding="ascii"
    )

    notebook = read_notebook(path)
    write_notebook(path, notebook)

    assert notebook["cells"][0]["source"] == "\ufffd \U0001f600 \ufffd \\ud83d"


def test_an_instructors_notebook_is_the_instructors_error(tmp_path: Path) -> None:
    """Who must act differs: a damaged source is no student's fault."""
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"{")

    with pytest.raises(NotebookError):
        read_notebook(path, error=NotebookError)


def test_a_students_link_is_not_followed(tmp_path: Path) -> None:
    """A link could name another student's work, or the solved notebook."""
    solved = tmp_path / "solved.ipynb"
    solved.write_text('{"nbformat": 4, "cells": []}')
    link = tmp_path / "a.ipynb"
    link.symlink_to(solved)

    with pytest.raises(SubmissionError, match="is a link"):
        read_notebook(link)
    assert read_notebook(link, error=NotebookError)["cells"] == []


def test_a_pipe_or_a_folder_does_not_hang_the_reader(tmp_path: Path) -> None:
    """What is not a file is refused at once."""
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()

    for name in ("pipe.ipynb", "folder.ipynb", "absent.ipynb"):
        with pytest.raises(SubmissionError):
            read_notebook(tmp_path / name)


def test_a_huge_file_is_not_read_whole(tmp_path: Path) -> None:
    """One giant submission must not take the grader's memory."""
    path = tmp_path / "a.ipynb"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)

    with pytest.raises(SubmissionError, match="larger than 1024 MiB"):
        read_notebook(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """An interrupted grader loses nothing and leaves nothing behind."""
    path = tmp_path / "a.ipynb"
    write_notebook(path, {"cells": []})
    before = path.read_bytes()

    with pytest.raises(UnicodeEncodeError):
        write_notebook(path, {"cells": [{"source": "\ud83d"}]})

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_huge_format_is_not_repeated(tmp_path: Path) -> None:
    """A reason is read by people."""
    path = tmp_path / "loud.ipynb"
    path.write_text('{"nbformat": "' + "9" * 100_000 + '", "cells": []}', encoding="ascii")

    with pytest.raises(SubmissionError) as caught:
        read_notebook(path)

    assert len(str(caught.value)) < 300 + len(str(path))
