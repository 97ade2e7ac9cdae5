"""
What Canvas does with an archive of feedback: its rules for *Upload Submissions*, re-implemented.

Only base names count. The name of a group in front is cut off, then the name is
split at underscores; the first two tokens of digits alone are a student and a
file of theirs, and the file must belong to that student's submission.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class CanvasAssignment:
    """
    What Canvas knows of an assignment.

    Parameters
    ----------
    attachments : mapping of (str, str) to str
        By number of student and of file the name that Canvas shows of the file.
    groups : mapping of str to tuple of str
        By name of a group the numbers of its students; empty for no group assignment.
    """

    attachments: Mapping[tuple[str, str], str]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Uploaded:
    """What became of an archive: what each student sees, by the shown name, and what was ignored."""

    comments: dict[str, list[tuple[str, bytes]]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)


def upload(files: Mapping[str, bytes], assignment: CanvasAssignment) -> Uploaded:
    """Return what Canvas does with an archive."""
    done = Uploaded()
    for path, data in files.items():
        name = path.rpartition("/")[2]
        found = _numbers(name, assignment)
        shown = assignment.attachments.get(found) if found else None
        if found is None or shown is None or name.startswith("._"):
            done.ignored.append(path)
            continue
        whole_group = next((group for group in assignment.groups.values() if found[0] in group), ())
        for user in whole_group or (found[0],):
            done.comments.setdefault(user, []).append((shown, data))
    return done


def _numbers(name: str, assignment: CanvasAssignment) -> tuple[str, str] | None:
    for group in assignment.groups:
        if name.startswith(f"{group}_"):
            name = name.removeprefix(f"{group}_")
            break
    pieces = [piece for piece in name.split("_") if piece != "LATE"]
    if pieces[0] == "anon":
        return (pieces[1], pieces[2]) if len(pieces) > 2 else None
    numbers = [piece for piece in pieces if _DIGITS.fullmatch(piece)]
    return (numbers[0], numbers[1]) if len(numbers) > 1 else None
