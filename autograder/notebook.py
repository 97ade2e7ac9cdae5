"""
Notebooks as plain JSON: reading and writing.

Nothing here executes a cell, and neither nbformat nor nbgrader is imported:
both take seconds to load, and both trust what a student hands in. A notebook
is the dict of its JSON with multi-line strings joined, whatever form the file
had (see `autograder.reading`); `write_notebook` gives it back nbformat's usual
form, byte for byte.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from autograder.errors import AutograderError, SubmissionError
from autograder.findings import Repair, RepairKind
from autograder.reading.reader import read
from autograder.whole import written_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Notebook = dict[str, Any]
Cell = dict[str, Any]

FORMAT = 4

SUBMITTED_BYTES = 4 * 2**20
"""A submitted file that is larger is read without its outputs."""

LINE_END = re.compile(r"\r\n?")

LINED = ("application/javascript", "image/svg+xml")
"""Types that are lines of text in a notebook's file although they are not called text."""


# ----------------------------------------------------------------- reading


def read_notebook(path: Path, *, error: type[AutograderError] = SubmissionError) -> Notebook:
    """
    Return the notebook in a file.

    Parameters
    ----------
    path : Path
        A regular file; a student's link, a pipe or a device is refused unread.
    error : type of AutograderError
        What to raise: `SubmissionError` for a student's notebook,
        `NotebookError` for an instructor's.

    Returns
    -------
    dict
        The notebook in format 4, multi-line strings joined. Its `cells` are a
        list; everything below may still be anything. Only of a file that is
        too large with them the outputs are gone.

    Raises
    ------
    AutograderError
        Of the given class, if there is no notebook in the file; the message
        says what is in it, where it broke, and what to do.
    OperatorError
        If the machine fails.
    """
    notebook, _ = read(path, error=error)
    return _join_lines(notebook)


def read_submitted(
    path: Path, *, error: type[AutograderError] = SubmissionError
) -> tuple[Notebook, tuple[Repair, ...]]:
    """
    Return a student's notebook and what was put right to read it.

    Parameters
    ----------
    path : Path
        A regular file; a student's link, a pipe or a device is refused unread.
    error : type of AutograderError
        What to raise if it cannot be read.

    Returns
    -------
    notebook : dict
        As `read_notebook` returns it, but the source of every cell that is a
        dict is a text, its lines ending in a line feed. The outputs of a
        file above 4 MiB are gone; nothing that is graded is in them.
    repairs : tuple of Repair
        Of the kinds ENCODING, OUTPUTS and FORMAT, where `where` is the file's
        name, and DAMAGED, where it is ``cell 3``. A byte order mark of UTF-8
        and the kind of line ends are no repair: many editors choose their
        own. They go before those of `repair`, which is to be called with this
        notebook.

    Raises
    ------
    AutograderError
        Of the given class, as `read_notebook` raises it. Its `what` is a
        reason for cells that are not graded, its `remedy` what to do.
    OperatorError
        If the machine fails; then nothing is known of the submission.
    """
    notebook, repairs = read(path, error=error, whole_bytes=SUBMITTED_BYTES)
    cells: list[Any] = []
    for number, cell in enumerate(_join_lines(notebook)["cells"], start=1):
        if not isinstance(cell, dict):
            cells.append(cell)
            continue
        source = cell.get("source")
        if not (source is None or isinstance(source, str)):
            what = "its source holds what is no text; left out"
            repairs.append(Repair(kind=RepairKind.DAMAGED, where=f"cell {number}", detail=what))
        cells.append(cell | {"source": LINE_END.sub("\n", joined(source))})
    return notebook | {"cells": cells}, tuple(repairs)


# ----------------------------------------------------------------- writing


def dump_notebook(notebook: Notebook) -> str:
    """Return the text of a notebook file, in nbformat's usual form."""
    text = json.dumps(_split_lines(notebook), indent=1, sort_keys=True, ensure_ascii=False)
    return text + "\n"


def write_notebook(path: Path, notebook: Notebook) -> None:
    """
    Write a notebook in nbformat's usual form, whole or not at all.

    Parameters
    ----------
    path : Path
        Where; the folder exists. A file there is replaced, even a read-only one.
    notebook : dict
        What `read_notebook` returned, possibly changed.
    """
    write_text(path, dump_notebook(notebook))


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file, whole or not at all; a reader never sees half of it."""
    with written_whole(path) as file:
        file.write(text.encode())


def copied(value: Any) -> Any:
    """Return a copy of JSON that shares nothing with it; much faster than `copy.deepcopy`."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def joined(source: object) -> str:
    """Return a multi-line string, stored whole or as a list of lines; what is no text is left out."""
    if isinstance(source, str):
        return source
    return "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else ""


def _join_lines(notebook: Notebook) -> Notebook:
    return _map_texts(notebook, lambda text: "".join(text) if _is_lines(text) else text)


def _split_lines(notebook: Notebook) -> Notebook:
    return _map_texts(notebook, lambda text: _lines(text) if isinstance(text, str) else text)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _is_lines(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _map_texts(notebook: Notebook, change: Callable[[Any], Any]) -> Notebook:
    """Copy a notebook as deep as its multi-line strings lie, and change those."""
    cells = [_map_cell(cell, change) if isinstance(cell, dict) else cell for cell in notebook["cells"]]
    return notebook | {"cells": cells}


def _map_cell(cell: Cell, change: Callable[[Any], Any]) -> Cell:
    cell = dict(cell)
    if "source" in cell:
        cell["source"] = change(cell["source"])
    attachments = cell.get("attachments")
    if isinstance(attachments, dict):
        cell["attachments"] = {name: _map_bundle(bundle, change) for name, bundle in attachments.items()}
    if cell.get("cell_type") == "code" and isinstance(cell.get("outputs"), list):
        cell["outputs"] = [_map_output(output, change) for output in cell["outputs"]]
    return cell


def _map_output(output: Any, change: Callable[[Any], Any]) -> Any:
    if not isinstance(output, dict):
        return output
    if output.get("output_type") in ("execute_result", "display_data"):
        return output | {"data": _map_bundle(output["data"], change)} if "data" in output else output
    return output | {"text": change(output["text"])} if "text" in output else output


def _map_bundle(bundle: Any, change: Callable[[Any], Any]) -> Any:
    if not isinstance(bundle, dict):
        return bundle
    return {mime: change(value) if _has_lines(mime, value) else value for mime, value in bundle.items()}


def _has_lines(mime: str, value: Any) -> bool:
    """Tell whether nbformat keeps this as lines: text, but not a picture's base64; lists it always joins."""
    if mime == "application/json" or (mime.startswith("application/") and mime.endswith("+json")):
        return False
    return not isinstance(value, str) or mime.startswith("text/") or mime in LINED
