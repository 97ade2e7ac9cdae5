"""
What Moodle does with a zip of feedback files: the rules of its importer, re-implemented.

The first part of a path that is made as Moodle makes names, and has the number of a
participant, says whose a file is; what follows is the file. Everything else is ignored in silence.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PLUGINS = {("assignsubmission", "file"), ("assignsubmission", "onlinetext"), ("assignfeedback", "file")}


@dataclass(frozen=True)
class MoodleAssignment:
    """
    What Moodle knows of an assignment.

    Parameters
    ----------
    participants : mapping of str to str
        Students by the number of the participant.
    handed_in : mapping of str to tuple of bytes
        By student the files that they, or their team, have handed in.
    """

    participants: Mapping[str, str]
    handed_in: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)


@dataclass
class Imported:
    """What became of a zip: each student's feedback files, what was skipped as unchanged, what ignored."""

    feedback: dict[str, dict[str, bytes]] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def import_feedback(files: Mapping[str, bytes], assignment: MoodleAssignment) -> Imported:
    """Return what Moodle does with a zip."""
    done = Imported()
    for path, data in files.items():
        found = None if path.rpartition("/")[2].startswith((".", "~")) else _found(path, assignment)
        if found is None:
            done.ignored.append(path)
            continue
        student, name = found
        own = {_hash(one) for one in assignment.handed_in.get(student, ())}
        if _hash(data) in own:
            done.unchanged.append(path)
        else:
            done.feedback.setdefault(student, {})[name] = data
    return done


def _found(path: str, assignment: MoodleAssignment) -> tuple[str, str] | None:
    parts = path.split("/")
    for at, part in enumerate(parts):
        pieces = part.split("_", 4)
        if len(pieces) < 4 or not pieces[1].isdecimal() or pieces[1] not in assignment.participants:
            continue
        if (pieces[2], pieces[3]) not in PLUGINS:
            continue
        name = "/".join([*pieces[4:], *parts[at + 1 :]]).lstrip("/")
        return (assignment.participants[pieces[1]], name) if name else None
    return None


def _hash(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()
