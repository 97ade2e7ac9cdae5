"""
A student's folder as seen from outside: is it too full, and how to remove it.

Student code chooses what lies in it: a chain of folders deeper than any path
is long, names that are no text, folders that nobody may list. So nothing here
recurses, follows a link or uses a path longer than a name.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILES = 1000
"""How many files and folders a notebook may leave; honest ones leave a handful."""

# Folders open at the same time while looking.
_MAX_OPEN = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 512


def is_too_full(folder: Path, limit_bytes: int) -> bool:
    """
    Return True if a folder holds more than a notebook may write.

    Parameters
    ----------
    folder : Path
        The folder; the process that writes to it may still be running.
    limit_bytes : int
        What all files in it may take together.

    Returns
    -------
    bool
        True for more than 1000 entries, more than `limit_bytes`, or a folder
        that cannot be listed.
    """
    waiting: list[int] = []
    try:
        waiting.append(os.open(folder, _FOLDER))
        return _count(waiting, limit_bytes)
    except PermissionError:
        return True
    except OSError:
        # Gone while we looked.
        return False
    finally:
        for descriptor in waiting:
            os.close(descriptor)


def _count(waiting: list[int], limit_bytes: int) -> bool:
    """Look at open folders and those below until there are none, or too much is found."""
    entries = size_bytes = 0
    while waiting:
        with os.scandir(waiting[-1]) as found:
            here = waiting.pop()
            try:
                for entry in found:
                    entries += 1
                    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                        size_bytes += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(os.open(entry.name, _FOLDER, dir_fd=here))
                    if entries > MAX_FILES or size_bytes > limit_bytes or len(waiting) > _MAX_OPEN:
                        return True
            finally:
                os.close(here)
    return False


def remove(folder: Path) -> None:
    """
    Remove a folder with everything in it; whatever resists is left.

    Parameters
    ----------
    folder : Path
        The folder; nobody writes to it any more.
    """
    with contextlib.suppress(OSError):
        # Ours, so no link; student code may have taken its rights away.
        folder.chmod(0o700)
        top = os.open(folder, _FOLDER)
        try:
            _empty(top)
        finally:
            os.close(top)
        folder.rmdir()


def _empty(top: int) -> None:
    prefix, number = os.urandom(8).hex(), 0
    resisting: set[str] = set()
    while names := set(os.listdir(top)) - resisting:
        for name in names:
            if _remove_leaf(name, top):
                continue
            try:
                # What lies in it moves up, so that no depth is ever walked.
                number = _lift(name, top, prefix, number)
                os.rmdir(name, dir_fd=top)
            except OSError:
                resisting.add(name)


def _lift(name: str, top: int, prefix: str, number: int) -> int:
    """Move what cannot be removed at once from a folder to the top; return the next free number."""
    os.chmod(name, 0o700, dir_fd=top)
    inner = os.open(name, _FOLDER, dir_fd=top)
    try:
        for child in os.listdir(inner):  # noqa: PTH208 - a descriptor has no path
            if not _remove_leaf(child, inner):
                # A folder that changes its parent must be writable itself.
                os.chmod(child, 0o700, dir_fd=inner)
                os.rename(child, f"{prefix}{number}", src_dir_fd=inner, dst_dir_fd=top)
                number += 1
    finally:
        os.close(inner)
    return number


def _remove_leaf(name: str, parent: int) -> bool:
    """Remove a file, a link or an empty folder; return False if it is none of these."""
    for function in (os.unlink, os.rmdir):
        try:
            function(name, dir_fd=parent)
        except FileNotFoundError:
            return True
        except OSError:
            continue
        else:
            return True
    return False
