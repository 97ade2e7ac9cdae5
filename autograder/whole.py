"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """
    Open a file that replaces another one at once, when all of it is written.

    Parameters
    ----------
    path : Path
        The file; its folder is there.
    private : bool
        True if only its owner may read it.

    Yields
    ------
    BinaryIO
        What to write to. If anything is raised before the end, what was there stays, and nothing is left.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o600 if private else 0o666), "wb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
