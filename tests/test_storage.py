"""Storing a submission: whatever lies beside the notebooks, the class is graded."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from handouts import ASSIGNMENT

from autograder.cli import FAILED, main
from autograder.errors import SubmissionError
from autograder.files import copy_files, files_beside

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.course.course import Course

LONGEST_PATH = 4095


def nested(folder: Path, names: list[str]) -> None:
    """Make a chain of folders, one at a time: as a whole its path may be too long for the system."""
    here = os.open(folder, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    with os.fdopen(os.open("deep.txt", os.O_CREAT | os.O_WRONLY, dir_fd=here), "w") as file:
        file.write("deep")
    os.close(here)


def names_up_to_the_limit(folder: Path) -> list[str]:
    """Return names of folders that make the path of a file below them as long as it may be."""
    left = LONGEST_PATH - len(str(folder)) - len("/deep.txt")
    # Few folders with long names, because deep ones are not followed.
    return ["d" * (left // 19 - 1)] * 19


def test_plain_files_come_along_and_nothing_else(tmp_path: Path) -> None:
    """No notebooks, no links, nothing hidden, nothing that nbgrader ignores."""
    source, target = tmp_path / "source", tmp_path / "target"
    for name in (
        "data/numbers.txt",
        "helper.py",
        "other.ipynb",
        ".hidden",
        "__pycache__/x.pyc",
        "feedback/x.html",
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    (source / "link").symlink_to("/etc/passwd")
    (source / "folder").symlink_to("/etc")
    target.mkdir()

    copy_files(source, target)

    assert {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()} == {
        "data/numbers.txt",
        "helper.py",
    }


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    """Reading it would wait for ever."""
    os.mkfifo(tmp_path / "pipe")

    assert list(files_beside(tmp_path)) == []


def test_folders_without_end_come_to_an_end(tmp_path: Path) -> None:
    """A chain of hundreds of folders is not followed to its end."""
    nested(tmp_path, ["d"] * 300)

    assert list(files_beside(tmp_path)) == []


def test_a_path_that_is_too_long_is_the_submissions_error(tmp_path: Path) -> None:
    """It fits where it is, and not where it should be copied to."""
    source = tmp_path / "s"
    source.mkdir()
    nested(source, names_up_to_the_limit(source))
    target = tmp_path / ("t" * 200)
    target.mkdir()

    with pytest.raises(SubmissionError, match="too long"):
        copy_files(source, target)


@pytest.mark.sandbox
def test_odd_files_of_one_student_stop_nobody(course: Course, hand_in: Callable[..., Path]) -> None:
    """The batch goes on, and nothing half-written of theirs is left."""
    hand_in("ana")
    nested(hand_in("deep"), ["d"] * 300)
    # It can be read in place, and is too long where it would be stored.
    long = hand_in("long")
    nested(long, names_up_to_the_limit(long))
    result = CliRunner().invoke(main, ["grade", "--course-dir", str(course.root), "--json"])
    (batch,) = json.loads(result.stdout)

    assert [one["student"] for one in batch["results"]] == ["ana", "deep"]
    assert [one["student"] for one in batch["not_graded"]] == ["long"]
    assert result.exit_code == FAILED
    assert not list((course.root / "autograded" / "long").glob("*"))
    assert course.autograded("ana", ASSIGNMENT).is_dir()
