"""
Notebooks as plain JSON: reading and writing.

Nothing here executes a cell, and neither nbformat nor nbgrader is imported:
both take seconds to load, and both trust what a student hands in. A notebook
is the dict of its JSON with multi-line strings joined, whatever form the file
had; `write_notebook` gives it back nbformat's usual form, byte for byte.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from typing import TYPE_CHECKING, Any

from autograder.errors import AutograderError, NotebookError, SubmissionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.findings import Repair

Notebook = dict[str, Any]
Cell = dict[str, Any]

FORMAT = 4

MAX_BYTES = 64 * 1024 * 1024
"""The largest notebook file that is read."""

LINED = ("application/javascript", "image/svg+xml")
"""Types that are lines of text in a notebook's file although they are not called text."""

MAX_BRACKETS = 2_000_000
"""The most brackets in a notebook's text; real ones have some thousands, outputs included."""

MAX_DEPTH = 100
"""The deepest nesting of a notebook's JSON; real outputs stay below 30."""


# ----------------------------------------------------------------- reading


def read_notebook(path: Path, *, error: type[AutograderError] = SubmissionError) -> Notebook:
    """
    Return the notebook in a file.

    Parameters
    ----------
    path : Path
        A regular file; a link, a pipe or a device is refused unread.
    error : type of AutograderError
        What to raise: `SubmissionError` for a student's notebook,
        `NotebookError` for an instructor's.

    Returns
    -------
    dict
        The notebook, multi-line strings joined. Its `cells` are a list;
        everything below may still be anything.

    Raises
    ------
    AutograderError
        Of the given class, if the file cannot be read, is too large, is not
        UTF-8 JSON, is nested too deeply, or is not a notebook of format 4.
    """
    text = _decode(path, _read_bytes(path, error), error)
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        # A few bytes of empty lists take a hundred times as many once they are read.
        raise error(path, "holds millions of lists", "Clear its outputs, save it and hand it in again.")
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as problem:
        what = f"not a notebook: its JSON breaks off or is damaged at line {problem.lineno}"
        raise error(path, what, "Open it in Jupyter, save it and hand it in again.") from None
    except (ValueError, RecursionError):
        raise error(path, "not a notebook: its JSON cannot be read", "Hand in the original file.") from None
    _check(path, notebook, error)
    return _join_lines(notebook)


def read_submitted(
    path: Path, *, error: type[AutograderError] = SubmissionError
) -> tuple[Notebook, tuple[Repair, ...]]:
    """
    Return a student's notebook and what was put right to read it.

    Parameters
    ----------
    path : Path
        A regular file; a link, a pipe or a device is refused unread.
    error : type of AutograderError
        What to raise if it cannot be read.

    Returns
    -------
    notebook : dict
        As `read_notebook` returns it; its outputs may be gone.
    repairs : tuple of Repair
        Of the kinds FORMAT, ENCODING, OUTPUTS and DAMAGED; `where` is the
        file's name, or a cell. They go before those of `repair`.

    Raises
    ------
    AutograderError
        Of the given class, as `read_notebook` raises it. Its `what` is a
        reason for cells that are not graded, its `remedy` what to do.
    """
    return read_notebook(path, error=error), ()


def _read_bytes(path: Path, error: type[AutograderError]) -> bytes:
    # An instructor's file may be a link into a shared folder; a student's
    # could point at somebody else's work, at a pipe, or at /dev/zero.
    follow = 0 if issubclass(error, NotebookError) else getattr(os, "O_NOFOLLOW", 0)
    flags = os.O_RDONLY | follow | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as problem:
        raise error(path, f"cannot be read ({problem.strerror})", "Replace it by a plain file.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise error(path, "is not a plain file", "Replace it by the notebook itself.")
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        what = f"is larger than {MAX_BYTES // 2**20} MiB"
        raise error(path, what, "Clear its outputs, save it and hand it in again.")
    return content


def _decode(path: Path, content: bytes, error: type[AutograderError]) -> str:
    if not content.strip():
        raise error(path, "is empty", "Hand in the saved notebook.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise error(path, "is not UTF-8 text", "Save it with Jupyter and hand it in again.") from None
    if "\\ud" not in text and "\\uD" not in text:
        return text
    # Half a surrogate pair cannot be written back as UTF-8.
    escape = r"(?<!\\)((?:\\\\)*)"
    high, low = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    return re.sub(
        rf"{escape}(?:({high}{low})|{high}|{low})",
        lambda match: match[1] + (match[2] or "\\ufffd"),
        text,
    )


def _check(path: Path, notebook: object, error: type[AutograderError]) -> None:
    if not isinstance(notebook, dict) or ("cells" not in notebook and "worksheets" not in notebook):
        raise error(path, "is not a notebook: it has no cells", "Hand in the .ipynb file of the assignment.")
    version = notebook.get("nbformat", 4)
    if version != FORMAT or not isinstance(notebook.get("cells"), list):
        what = f"is a notebook of format {repr(version)[:20]}, not {FORMAT}"
        raise error(path, what, "Open it in a current Jupyter, save it and hand it in again.")
    if _depth(notebook) > MAX_DEPTH:
        raise error(path, f"is nested more than {MAX_DEPTH} levels deep", "Hand in the original file.")


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level and depth <= MAX_DEPTH:
        depth += 1
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(child for child in item.values() if isinstance(child, dict | list))
            elif isinstance(item, list):
                inner.extend(child for child in item if isinstance(child, dict | list))
        level = inner
    return depth


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
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def copied(value: Any) -> Any:
    """Return a copy of JSON that shares nothing with it; much faster than `copy.deepcopy`."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def joined(source: object) -> str:
    """Return a multi-line string of a notebook, stored whole or as a list of lines."""
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return ""


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
