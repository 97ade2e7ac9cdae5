"""
What Brightspace and Sakai do with a tree of feedback, as far as it is known.

Brightspace's rules are its vendor's words: files go to the submission whose folder they are in, if the
folder has the very name of the download. Sakai's are those of its code: below the title a folder that ends
in the eid, and in it the folder for feedback.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_EID = re.compile(r".*\(([^()]+)\)", re.DOTALL)


@dataclass
class Attached:
    """By folder or eid the files that were attached, and what was not taken."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)


def add_feedback_files(files: Mapping[str, bytes], folders: Collection[str]) -> Attached:
    """Return what Brightspace does with an archive, given the folders of the download."""
    done = Attached()
    for path, data in files.items():
        folder, _, name = path.partition("/")
        if folder in folders and name:
            done.files.setdefault(folder, {})[name] = data
        elif path != "index.html":
            done.ignored.append(path)
    return done


def upload_all(files: Mapping[str, bytes], title: str, eids: Collection[str]) -> Attached:
    """Return what Sakai does with an archive, given the assignment's title and the ids of its students."""
    done = Attached()
    for path, data in files.items():
        parts = path.split("/")
        match = _EID.fullmatch(parts[1]) if len(parts) == 4 else None
        wanted = parts[0] == title and parts[2:3] == ["Feedback Attachment(s)"]
        if match is None or not wanted or match[1] not in eids:
            done.ignored.append(path)
        else:
            done.files.setdefault(match[1], {})[parts[3]] = data
    return done
