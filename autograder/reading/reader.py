"""From a file to the notebook in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from autograder.errors import NotebookError
from autograder.findings import Repair, RepairKind, bounded
from autograder.reading.cutting import MAX_BYTES, Cutter
from autograder.reading.damage import broken, comma_too_many, watched
from autograder.reading.encoding import UTF_8, as_utf8, decoded, encoding_of, line_after, well_formed
from autograder.reading.foreign import HEAD_BYTES, check_bytes, check_text
from autograder.reading.formats import as_current
from autograder.reading.opening import CHUNK_BYTES, chunks, opened, read_up_to
from autograder.reading.unreadable import CLEAR, OtherLanguage, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.errors import AutograderError
    from autograder.reading.encoding import Encoding

MAX_DEPTH = 100
"""The deepest nesting of a notebook's JSON; real outputs stay below 30."""

MAX_BRACKETS = 1_000_000
"""The most lists and objects in what is read of a notebook; real ones have some thousands."""

MAX_COMMAS = 4_000_000
"""The most commas in what is read of a notebook, those in texts included."""

_MAX_COMMAS_TOO_MANY = 10
_MIB = 2**20
_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"
_SAVE = "Open it in Jupyter, save it and hand it in again."
_BY_NBGRADER = "Grade this assignment with `nbgrader autograde`."


def read(
    path: Path, *, error: type[AutograderError], whole_bytes: int = MAX_BYTES
) -> tuple[dict[str, Any], list[Repair]]:
    """
    Return the notebook in a file, and what was put right.

    Parameters
    ----------
    path : Path
        A plain file.
    error : type of AutograderError
        What to raise; only for `NotebookError` is a link followed.
    whole_bytes : int
        Of a file larger than this the outputs are cut out before it is read.

    Returns
    -------
    notebook : dict
        A notebook of format 4 whose `cells` are a list.
    list of Repair
        Of the kinds ENCODING, OUTPUTS and FORMAT.

    Raises
    ------
    AutograderError
        Of the given class, if there is no notebook in it.
    OperatorError
        If the machine fails.
    """
    notes: list[tuple[RepairKind, str]] = []
    try:
        with opened(path, follow=issubclass(error, NotebookError)) as file:
            value = _value(file, whole_bytes, notes)
        notebook, details = as_current(value)
    except Unreadable as problem:
        other = isinstance(problem, OtherLanguage) and issubclass(error, NotebookError)
        raise error(path, problem.what, _BY_NBGRADER if other else problem.remedy) from None
    notes += [(RepairKind.FORMAT, detail) for detail in details]
    return notebook, [Repair(kind=kind, where=path.name, detail=bounded(detail)) for kind, detail in notes]


def _value(file: BinaryIO, whole_bytes: int, notes: list[tuple[RepairKind, str]]) -> object:
    """Return the JSON in a file."""
    head = read_up_to(file, max(whole_bytes + 1, HEAD_BYTES))
    if not head:
        what = "is empty (0 bytes)"
        raise Unreadable(
            what, "Save the notebook in Jupyter, see that the file is not empty, and hand it in."
        )
    check_bytes(head)
    encoding = encoding_of(head)
    check_text(head[:HEAD_BYTES].removeprefix(encoding.mark).decode(encoding.codec, "replace"))
    if not encoding.usual:
        notes.append((RepairKind.ENCODING, f"it is {encoding}, not UTF-8; read as that"))
    cutter = None
    text = decoded(head, encoding) if len(head) <= whole_bytes else ""
    if not text or _is_bomb(text):
        cutter = _cut(file, head, encoding)
        del head
        if cutter.dropped_bytes:
            size = f"{max(1, cutter.dropped_bytes // _MIB)} MiB"
            notes.append((RepairKind.OUTPUTS, f"its outputs take {size}; dropped unread"))
        text = decoded(bytes(cutter.kept), UTF_8)
        if _is_bomb(text):
            raise Unreadable("holds millions of values", CLEAR)
    text = text.lstrip("\ufeff")
    value = _parsed(text, cutter, notes)
    _check_depth(value)
    if ("\\ud" in text or "\\uD" in text or _is_half(text)) and (mended := _mended(value)) != value:
        # They cannot be written back as UTF-8.
        notes.append(
            (RepairKind.ENCODING, "it holds halves of characters (lone surrogates); replaced by U+FFFD")
        )
        return mended
    return value


def _is_bomb(text: str) -> bool:
    """Tell whether a text may take a hundred times its size once it is read, as empty lists do."""
    return text.count("[") + text.count("{") > MAX_BRACKETS or text.count(",") > MAX_COMMAS


def _cut(file: BinaryIO, head: bytes, encoding: Encoding) -> Cutter:
    cutter = Cutter()
    for piece in watched(as_utf8(chunks(file, head), encoding)):
        cutter.feed(piece)
    cutter.close()
    return cutter


def _parsed(text: str, cutter: Cutter | None, notes: list[tuple[RepairKind, str]]) -> object:
    commas: list[int] = []
    while True:
        try:
            value = json.loads(text)
        except json.JSONDecodeError as problem:
            at = comma_too_many(text, problem)
            if at is None or len(commas) == _MAX_COMMAS_TOO_MANY:
                raise _broken(text, problem, cutter) from None
            commas.append(line_after(text[:at]) + _dropped_lines(text[:at], cutter))
            text = f"{text[:at]} {text[at + 1 :]}"
        except RecursionError:
            raise Unreadable(_TOO_DEEP, CLEAR) from None
        except ValueError:
            raise Unreadable("holds a number of thousands of digits", _SAVE) from None
        else:
            break
    if commas:
        lines = ", ".join(map(str, commas))
        notes.append((RepairKind.FORMAT, f"it has a comma too many in line {lines}; left out"))
    return value


def _broken(text: str, problem: json.JSONDecodeError, cutter: Cutter | None) -> Unreadable:
    """Return where and how a text stops being JSON, and how many cells stand before."""
    before = text[: problem.pos].encode("utf-8", "surrogatepass")
    seen = Cutter()
    try:
        for _ in watched([text.encode("utf-8", "surrogatepass")]):
            pass
        for at in range(0, len(before), CHUNK_BYTES):
            seen.feed(before[at : at + CHUNK_BYTES])
    except Unreadable as reason:
        return reason
    dropped = _dropped_lines(text[: problem.pos], cutter) if cutter else None
    return broken(text, problem, cells=seen.cells, dropped_lines=dropped)


def _dropped_lines(before: str, cutter: Cutter | None) -> int:
    return cutter.dropped_lines(len(before.encode("utf-8", "surrogatepass"))) if cutter else 0


def _check_depth(value: object) -> None:
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
    if depth > MAX_DEPTH:
        raise Unreadable(_TOO_DEEP, CLEAR)


def _is_half(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(name): _mended(item) for name, item in value.items()}
    return value
