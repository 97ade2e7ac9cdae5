"""What student code leaves in its folder is measured and removed, whatever it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from autograder.sandbox.worker.folder import MAX_FILES, is_too_full, remove

if TYPE_CHECKING:
    from pathlib import Path

MIB = 2**20


def chain(top: Path, depth: int) -> None:
    """Make folders in one another, deeper than a path may be long."""
    here = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 100, dir_fd=here)
        inner = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def test_a_chain_of_folders_is_counted_and_removed(tmp_path: Path) -> None:
    """Neither the depth of the stack nor the length of a path bounds it."""
    top = tmp_path / "top"
    top.mkdir()
    chain(top, MAX_FILES - 1)
    assert not is_too_full(top, MIB * 100)
    (top / "one").touch()
    (top / "more").touch()

    assert is_too_full(top, MIB * 100)
    remove(top)
    assert not top.exists()


def test_size_counts_and_holes_do_not(tmp_path: Path) -> None:
    """What counts is what is taken from the machine."""
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(2**33)
    assert not is_too_full(tmp_path, MIB)

    (tmp_path / "full").write_bytes(b"x" * 2 * MIB)
    assert is_too_full(tmp_path, MIB)


def test_a_folder_that_is_gone_is_not_full(tmp_path: Path) -> None:
    """It may be removed while we look."""
    assert not is_too_full(tmp_path / "gone", MIB)
    remove(tmp_path / "gone")


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    """A link to the machine's files is only a link."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "link").symlink_to(other)
    (top / "b").symlink_to(other / "kept")
    (top / "a" / "b").chmod(0)
    remove(top)

    assert not top.exists()
    assert (other / "kept").exists()
