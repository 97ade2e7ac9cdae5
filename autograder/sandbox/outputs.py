"""Outputs that student code produced, made fit to be stored and shown."""

from __future__ import annotations

import base64
import binascii
import struct
from typing import TYPE_CHECKING, Any

import nh3

if TYPE_CHECKING:
    from collections.abc import Callable

_PNG = b"\x89PNG\r\n\x1a\n"
_STREAMS = ("stdout", "stderr")
_MAX_OUTPUTS = 1000
_MAX_COUNT = 1_000_000
_MAX_TRACEBACK = 100
# Deep nesting costs the cleaner quadratic time, so that a cell's HTML is bounded as a whole.
_MAX_HTML = 64 * 1024
# A viewer unpacks a picture: a small file may hold a vast one.
_MAX_PICTURE_SIDE = 10_000
_MAX_PICTURE_PIXELS = 50_000_000
_PNG_SIZE = struct.Struct(">II")
_PNG_SIZE_AT = 16


def clean_outputs(raw: object) -> list[dict[str, Any]]:
    """
    Return the outputs of a cell as nbformat outputs that are safe to show.

    Streams, errors, plain text, LaTeX and PNG pictures are kept, HTML is
    sanitised, and everything that could run in a browser (scripts, SVG,
    widgets) is dropped, and so is HTML beyond 64 KiB. Lone surrogates, which
    no file can hold, become question marks.

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
    html = _Html()
    cleaned = (_clean(output, html) for output in raw[:_MAX_OUTPUTS] if isinstance(output, dict))
    return [output for output in cleaned if output is not None]


def shown_bytes(outputs: list[dict[str, Any]]) -> int:
    """
    Return about how much memory cleaned outputs take, in bytes.

    Parameters
    ----------
    outputs : list of dict
        As returned by `clean_outputs`.

    Returns
    -------
    int
        The length of all their texts.
    """
    total = 0
    for output in outputs:
        texts = [*output.get("data", {}).values(), *output.get("traceback", [])]
        texts += [output.get(key, "") for key in ("text", "ename", "evalue")]
        total += sum(map(len, texts))
    return total


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


def _clean(output: dict[str, Any], html: _Html) -> dict[str, Any] | None:
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
            return _clean_data(kind, output, html)
        case _:
            return None


def _clean_data(kind: str, output: dict[str, Any], html: _Html) -> dict[str, Any] | None:
    data = output.get("data")
    if not isinstance(data, dict):
        return None
    cleaners: dict[str, Callable[[object], str | None]] = {"image/png": _png, "text/html": html.clean}
    cleaners |= {"text/latex": _plain, "text/plain": _plain}
    kept = {mime: text for mime, clean in cleaners.items() if (text := clean(data.get(mime))) is not None}
    if not kept:
        return None
    cleaned: dict[str, Any] = {"output_type": kind, "data": kept, "metadata": _sizes(output.get("metadata"))}
    if kind == "execute_result":
        count = output.get("execution_count")
        # An int of a million digits is an int, and no file can hold it.
        cleaned["execution_count"] = count if type(count) is int and 0 <= count <= _MAX_COUNT else None
    return cleaned


def _text(value: object) -> str:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _plain(value: object) -> str | None:
    return _text(value) if isinstance(value, str) else None


class _Html:
    """Cleans the HTML of one cell, as long as there is not too much of it."""

    def __init__(self) -> None:
        self.left = _MAX_HTML

    def clean(self, value: object) -> str | None:
        if not isinstance(value, str) or len(value) > self.left:
            return None
        self.left -= len(value)
        return nh3.clean(_text(value))


def _png(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        picture = base64.b64decode(value.encode("ascii", "replace").replace(b"\n", b""), validate=True)
    except (binascii.Error, ValueError):
        return None
    if not picture.startswith(_PNG):
        return None
    # What is too short to have a size shows nothing.
    width, height = _PNG_SIZE.unpack_from(picture.ljust(_PNG_SIZE_AT + _PNG_SIZE.size, b"\0"), _PNG_SIZE_AT)
    if max(width, height) > _MAX_PICTURE_SIDE or width * height > _MAX_PICTURE_PIXELS:
        return None
    return base64.b64encode(picture).decode()


def _sizes(metadata: object) -> dict[str, Any]:
    if not isinstance(metadata, dict) or not isinstance(metadata.get("image/png"), dict):
        return {}
    picture = metadata["image/png"]
    sides = {key: picture.get(key) for key in ("width", "height")}
    kept = {key: side for key, side in sides.items() if type(side) is int and 0 < side <= _MAX_PICTURE_SIDE}
    return {"image/png": kept} if kept else {}
