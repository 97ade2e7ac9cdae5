"""A submission is held by one run at a time, for as long as that run lives."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from autograder.errors import OperatorError
from autograder.grading.holds import Holds

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from autograder.grading.holds import Holds
holds = Holds(Path(sys.argv[1]))
print(holds.take("lab", "ana"), flush=True)
sys.stdin.read()
"""


def test_one_run_at_a_time_holds_a_submission(tmp_path: Path) -> None:
    """Others find it taken until it lets go; each submission is held by itself."""
    path = tmp_path / "inner" / "holds"
    with Holds(path) as one, Holds(path) as other:
        assert one.take("lab", "ana")
        assert one.take("lab", "ana")
        assert not other.take("lab", "ana")
        assert other.take("lab", "ben")
        assert other.take("exam", "ana")

        one.let_go("lab", ["ana"])

        assert other.take("lab", "ana")
    assert path.read_bytes() == b""


def test_names_do_not_run_into_each_other(tmp_path: Path) -> None:
    """What parts an assignment from a student counts, and any folder's name can be held."""
    with Holds(tmp_path / "holds") as one, Holds(tmp_path / "holds") as other:
        assert one.take("lab", "1ana")
        assert other.take("lab1", "ana")
        assert other.take("lab", "\udcff\U0001f600")


def test_a_run_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    """Nobody has to clean up after it."""
    path = tmp_path / "holds"
    with (
        subprocess.Popen(
            [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as run,
        Holds(path) as holds,
    ):
        assert run.stdout is not None
        assert run.stdout.readline() == "True\n"
        assert not holds.take("lab", "ana")

        run.kill()
        run.wait()

        assert holds.take("lab", "ana")


def test_closing_one_copy_of_the_file_keeps_the_holds_of_another(tmp_path: Path) -> None:
    """Two parts of one process may hold submissions, too."""
    path = tmp_path / "holds"
    with Holds(path) as one:
        assert one.take("lab", "ana")
        with Holds(path):
            pass
        with Holds(path) as other:
            assert not other.take("lab", "ana")


def test_a_file_that_cannot_be_made_is_the_operators_to_mend(tmp_path: Path) -> None:
    """A link could lead anywhere; a folder is no file."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder").mkdir()

    for name in ("link", "folder", "link/inner"):
        with pytest.raises(OperatorError, match="cannot be locked"):
            Holds(tmp_path / name)
    assert not (tmp_path / "elsewhere").exists()
