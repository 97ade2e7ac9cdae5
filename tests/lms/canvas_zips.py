"""What Canvas calls what is handed in, re-implemented: the rule by which it fills `submissions.zip`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_REPLACED = re.compile(r'[\x00/\\:*?"<>|]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """
    A file that somebody has uploaded, or a text that was entered.

    Parameters
    ----------
    sortable : str
        The student's sortable name, or the group's name; empty if the assignment is anonymous.
    user : str
        Canvas's number of the student, or the anonymous id.
    attachment : int
        Canvas's number of the file; 0 of a text.
    display : str
        What the student's file is called.
    late : bool
        Whether it is late.
    """

    sortable: str
    user: str
    attachment: int
    display: str = "hw1.ipynb"
    late: bool = False


def folded(name: str) -> str:
    """Return a name in small letters, without what is in no word: Ruby's ``[^[:word:]]``."""
    small = name.lower()
    return "".join(
        one
        for one in small
        if unicodedata.category(one)[0] in "LM" or unicodedata.category(one) in {"Nd", "Nl", "Pc"}
    )


def entry_name(upload: Upload) -> str:
    """Return what an upload is called in the zip."""
    late = ["LATE"] if upload.late else []
    display = _REPLACED.sub("_", upload.display)
    number = [str(upload.attachment)] if upload.attachment else []
    if not upload.sortable:
        return "_".join([*late, "anon", upload.user, *number, display])
    return "_".join([folded(upload.sortable), *late, upload.user, *number, display])


def canvas_zip(uploads: Iterable[Upload]) -> dict[str, bytes]:
    """Return the entries of a zip, each saying whose it is."""
    return {
        entry_name(one): f"{one.user} {one.attachment} {one.display}".encode("utf-8", "replace")
        for one in uploads
    }
