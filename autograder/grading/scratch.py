"""A folder for temporary files; if its owner was killed, the next that makes one removes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX, IN_USE = "autograder-", "in-use"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """
    Make a folder for temporary files; a context manager.

    Folders of processes that were killed are removed first.

    Yields
    ------
    Path
        The folder, removed on leaving.
    """
    _sweep(Path(tempfile.gettempdir()))
    # After an error, a process that grades may still be at work in it.
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        new = Path(name) / f"new-{IN_USE}"
        with new.open("wb") as mark:
            # Held as long as this process lives. It gets its name when it is held, for others look for it.
            fcntl.flock(mark, fcntl.LOCK_EX)
            new.rename(Path(name) / IN_USE)
            yield Path(name)


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (folder / IN_USE).open("rb") as mark:
            if os.fstat(mark.fileno()).st_uid == os.geteuid():
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
