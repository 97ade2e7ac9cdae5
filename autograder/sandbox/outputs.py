"""Outputs that student code produced, made fit to be stored and shown."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import nh3

_PNG = b"\x89PNG\r\n\x1a\n"
_STREAMS = ("stdout", "stderr")
_MAX_OUTPUTS = 1000
_MAX_TRACEBACK = 100


def clean_outputs(raw: object) -> list[dict[str, Any]]:
    """
    Return the outputs of a cell as nbformat outputs that are safe to show.

    Streams, errors, plain text, LaTeX and PNG pictures are kept, HTML is
    sanitised, and everything that could run in a browser (scripts, SVG,
    widgets) is dropped. Lone surrogates, which no file can hold, become
    question marks.

    Parameters
    ----------
    raw : object
        What the worker reported; anything.

    Returns
    -------
    list of dict
        nbformat outputs, at most 1000.
    """
    if not isinstance(raw, list):
        return []
    cleaned = (_clean(output) for output in raw[:_MAX_OUTPUTS] if isinstance(output, dict))
    return [output for output in cleaned if output is not None]


def error_output(name: str, message: str) -> dict[str, Any]:
    """
    Return an nbformat error output with one line.

    Parameters
    ----------
    name : str
        The error's name.
    message : str
        What happened, for the people who read the notebook.

    Returns
    -------
    dict
        The output.
    """
    line = f"{name}: {message}"
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [line]}


def _clean(output: dict[str, Any]) -> dict[str, Any] | None:
    match output.get("output_type"):
        case "stream":
            name = output.get("name")
            return {
                "output_type": "stream",
                "name": name if name in _STREAMS else "stdout",
                "text": _text(output.get("text")),
            }
        case "error":
            traceback = output.get("traceback")
            lines = traceback[:_MAX_TRACEBACK] if isinstance(traceback, list) else []
            return {
                "output_type": "error",
                "ename": _text(output.get("ename")),
                "evalue": _text(output.get("evalue")),
                "traceback": [_text(line) for line in lines],
            }
        case "display_data" | "execute_result" as kind:
            return _clean_data(kind, output)
        case _:
            return None


def _clean_data(kind: str, output: dict[str, Any]) -> dict[str, Any] | None:
    data = output.get("data")
    if not isinstance(data, dict):
        return None
    kept = {mime: text for mime in sorted(_KEPT) if (text := _KEPT[mime](data.get(mime))) is not None}
    if not kept:
        return None
    cleaned: dict[str, Any] = {"output_type": kind, "data": kept, "metadata": _sizes(output.get("metadata"))}
    if kind == "execute_result":
        count = output.get("execution_count")
        cleaned["execution_count"] = count if type(count) is int else None
    return cleaned


def _text(value: object) -> str:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _plain(value: object) -> str | None:
    return _text(value) if isinstance(value, str) else None


def _html(value: object) -> str | None:
    return nh3.clean(_text(value)) if isinstance(value, str) else None


def _png(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        picture = base64.b64decode(value.encode("ascii", "replace").replace(b"\n", b""), validate=True)
    except (binascii.Error, ValueError):
        return None
    return base64.b64encode(picture).decode() if picture.startswith(_PNG) else None


_KEPT = {"text/plain": _plain, "text/latex": _plain, "text/html": _html, "image/png": _png}


def _sizes(metadata: object) -> dict[str, Any]:
    if not isinstance(metadata, dict) or not isinstance(metadata.get("image/png"), dict):
        return {}
    picture = metadata["image/png"]
    kept = {key: picture[key] for key in ("width", "height") if type(picture.get(key)) is int}
    return {"image/png": kept} if kept else {}
