"""Notebooks of any format and age as notebooks of format 4."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from autograder.reading.unreadable import OtherLanguage, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Notebook = dict[str, Any]

FORMAT = 4
_WORKSHEETS = (2, 3)
_NUMBER = re.compile(r"\s*v?([0-9])(?:\.[0-9]+)?\s*")
_MAX_NAMED = 5
_DEEPEST_HEADING = 6

_OPEN = "Open it in Jupyter, save it and hand it in again."
_OTHER_FILE = "Hand in the notebook file itself (.ipynb); it was mixed up with another file."
_NO_LINK = "Download the notebook file itself (.ipynb) from there and hand that in."

# How kernels name their language, in lower case; what is not here may be a Python of some kind.
_OTHER_LANGUAGES = {
    "r": "R",
    "julia": "Julia",
    "octave": "Octave",
    "matlab": "MATLAB",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "java": "Java",
    "scala": "Scala",
    "kotlin": "Kotlin",
    "c": "C",
    "c++": "C++",
    "c#": "C#",
    "f#": "F#",
    "go": "Go",
    "rust": "Rust",
    "ruby": "Ruby",
    "perl": "Perl",
    "php": "PHP",
    "lua": "Lua",
    "haskell": "Haskell",
    "ocaml": "OCaml",
    "clojure": "Clojure",
    "bash": "Bash",
    "powershell": "PowerShell",
    "sql": "SQL",
    "sas": "SAS",
    "stata": "Stata",
    "wolfram language": "Wolfram Language",
    "mathematica": "Mathematica",
    "maxima": "Maxima",
    "prolog": "Prolog",
    "fortran": "Fortran",
}
_OTHER_KERNELS = re.compile(r"(ir)|(julia)(-[\d.]+)?", re.IGNORECASE)

_MIMES = {
    "text": "text/plain",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
}
_OUTPUT_TYPES = {"pyout": "execute_result", "pyerr": "error"}


def as_current(value: object) -> tuple[Notebook, list[str]]:
    """
    Return the notebook that the JSON of a file is, in format 4.

    Parameters
    ----------
    value : object
        What JSON's reader returned.

    Returns
    -------
    notebook : dict
        Its `cells` are a list; everything below may still be anything.
    list of str
        What was put right.

    Raises
    ------
    Unreadable
        If it is no notebook, one of another format, or not in Python.
    """
    notebook = _notebook(value)
    number, notes = _number(notebook)
    cells = notebook.get("cells")
    if "worksheets" in notebook and (number in _WORKSHEETS or "cells" not in notebook):
        notebook, cells = _from_worksheets(notebook)
        notes.append(f"it is of nbformat {number}; converted")
    elif number in _WORKSHEETS:
        notes.append(f"it says that it is of nbformat {number}, but is of {FORMAT}; read as that")
        notebook = notebook | {"nbformat": FORMAT}
    if not isinstance(cells, list):
        raise Unreadable("is a notebook whose cells are no list", _OPEN)
    _check_language(notebook)
    return notebook, notes


def _notebook(value: object) -> Notebook:
    if not isinstance(value, dict):
        kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
        what = f"is JSON but not a notebook: it is {kinds.get(type(value), 'a number')}"
        raise Unreadable(what, _OTHER_FILE)
    if "cells" in value or "worksheets" in value:
        return value
    link = value.get("url") or value.get("doc_id") or value.get("resource_id")
    if isinstance(link, str) and ("google" in str(value.get("url")) or "email" in value):
        raise Unreadable("is a link to a file in Google Drive, not the notebook", _NO_LINK)
    if isinstance(value.get("content"), dict) and "cells" in value["content"]:
        what = "is a server's record about a notebook, with the notebook inside"
        raise Unreadable(what, "In Jupyter choose File > Download, and hand that in.")
    said = value.get("message") or value.get("error")
    if isinstance(said, str) and len(value) <= _MAX_NAMED:
        what = f"is a server's answer, not a notebook: it says {said[:60]!r}"
        raise Unreadable(what, "Download the notebook again, see that it opens in Jupyter, and hand that in.")
    names = ", ".join(repr(name[:30]) for name in list(value)[:_MAX_NAMED])
    what = f"is JSON but not a notebook: it has no cells, but {names or 'nothing at all'}"
    raise Unreadable(what, _OTHER_FILE)


def _number(notebook: Notebook) -> tuple[int, list[str]]:
    """Return a notebook's format, and what was put right about it."""
    likely = FORMAT if "cells" in notebook else _WORKSHEETS[-1]
    told = notebook.get("nbformat")
    if type(told) is int:
        number, notes = told, []
    elif told is None:
        number, notes = likely, [f"it does not tell its nbformat; read as {likely}"]
    else:
        match = _NUMBER.fullmatch(told) if isinstance(told, str) else None
        number = int(match[1]) if match else int(told) if isinstance(told, float) and told in range(10) else 0
        notes = [f"its nbformat is {told!r}, which is no whole number; read as {number}"]
        notebook["nbformat"] = number
    if number in (*_WORKSHEETS, FORMAT):
        return number, notes
    what = f"is a notebook of nbformat {repr(told)[:20]}, not {FORMAT}"
    raise Unreadable(what, "Open it in a current Jupyter, save it there and hand it in again.")


def _check_language(notebook: Notebook) -> None:
    """Refuse a notebook that says in all places in which it says it that it is not in Python."""
    told = set(_languages(notebook))
    if len(told) == 1 and (language := _OTHER_LANGUAGES.get(told.pop())):
        what = f"is a notebook in {language}, not in Python"
        remedy = "Open the notebook that was handed out, choose the kernel Python 3, and hand that in."
        raise OtherLanguage(what, remedy)


def _languages(notebook: Notebook) -> Iterator[str]:
    metadata = notebook.get("metadata")
    if not isinstance(metadata, dict):
        return
    kernel, about = metadata.get("kernelspec"), metadata.get("language_info")
    told = [about.get("name")] if isinstance(about, dict) else []
    told += [kernel.get("language")] if isinstance(kernel, dict) else []
    told += [metadata.get("language")]
    known = [name.strip().lower() for name in told if isinstance(name, str) and name.strip()]
    yield from known
    if not known and isinstance(kernel, dict) and isinstance(kernel.get("name"), str):
        match = _OTHER_KERNELS.fullmatch(kernel["name"])
        yield from [match[2].lower() if match[2] else "r"] if match else []


# --------------------------------------------------------- formats 2 and 3


def _from_worksheets(notebook: Notebook) -> tuple[Notebook, list[Any]]:
    sheets = notebook["worksheets"]
    if not isinstance(sheets, list) or not all(isinstance(sheet, dict) for sheet in sheets):
        raise Unreadable("is a notebook whose worksheets are no list of cells", _OPEN)
    lists = [sheet.get("cells", []) for sheet in sheets]
    if not all(isinstance(cells, list) for cells in lists):
        raise Unreadable("is a notebook whose cells are no list", _OPEN)
    cells = [_cell(cell) if isinstance(cell, dict) else cell for cells in lists for cell in cells]
    metadata = notebook.get("metadata")
    if isinstance(metadata, dict):
        metadata = {name: value for name, value in metadata.items() if name not in ("name", "signature")}
    gone = ("worksheets", "orig_nbformat", "orig_nbformat_minor")
    kept = {name: value for name, value in notebook.items() if name not in gone}
    return kept | {"cells": cells, "metadata": metadata, "nbformat": FORMAT, "nbformat_minor": 4}, cells


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    cell = {"metadata": {}} | dict(cell)
    kind = cell.get("cell_type")
    if kind == "code":
        cell.pop("language", None)
        if isinstance(cell["metadata"], dict) and "collapsed" in cell:
            cell["metadata"] = cell["metadata"] | {"collapsed": cell.pop("collapsed")}
        cell["source"] = _text(cell.pop("input", ""))
        cell["execution_count"] = cell.pop("prompt_number", None)
        outputs = cell.get("outputs")
        cell["outputs"] = [_output(one) for one in outputs] if isinstance(outputs, list) else []
        return cell
    source = _text(cell.get("source", ""))
    if kind == "heading":
        level = cell.pop("level", 1)
        marks = "#" * level if type(level) is int and 0 < level <= _DEEPEST_HEADING else "#"
        lines = source.splitlines() if isinstance(source, str) else []
        source = f"{marks} {' '.join(lines)}"
    return cell | {"cell_type": "markdown" if kind in ("heading", "html") else kind, "source": source}


def _output(output: Any) -> Any:
    if not isinstance(output, dict):
        return output
    kind = output.get("output_type")
    output = output | {"output_type": _OUTPUT_TYPES.get(kind, kind)} if isinstance(kind, str) else output
    if kind == "stream":
        named = {name: value for name, value in output.items() if name != "stream"}
        return named | {"name": output.get("stream", "stdout"), "text": _text(output.get("text", ""))}
    if kind not in ("pyout", "display_data"):
        return output
    about = {"output_type": output["output_type"], "metadata": output.get("metadata", {})}
    if kind == "pyout":
        about["execution_count"] = output.get("prompt_number")
    data = {
        _MIMES.get(name, name): _text(value)
        for name, value in output.items()
        if name not in ("output_type", "prompt_number", "metadata")
    }
    return about | {"data": data}


def _text(value: Any) -> Any:
    """Join lines; the oldest notebooks left the line ends out."""
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        return value
    return ("" if value and value[0].endswith(("\n", "\r")) else "\n").join(value)
