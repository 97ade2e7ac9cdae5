"""Graders that run at the same time give their students different user ids."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="there is a wall on Linux only")

ROOT = Path(__file__).resolve().parents[2]
# Ids of this test's own, in which no grader on this machine is at work.
FIRST, COUNT = 1_000_000 + 8 * os.getpid(), 4
GRADER = f"""
import os, sys
from autograder.sandbox import uid
uid._FIRST, uid._COUNT = {FIRST}, {COUNT}
print(uid.slot_uid(), flush=True)
if sys.argv[1:] == ["forks"] and os.fork() == 0:
    print(uid.slot_uid(), flush=True)
    os._exit(0)
sys.stdin.read()
assert uid.slot_uid() == uid.slot_uid()
"""


class Graders:
    """Processes that each have taken an id; a context manager that ends them."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        """Start with none."""
        return self

    def __exit__(self, *_: object) -> None:
        """End them all."""
        for process in self.started:
            process.kill()
            process.communicate()

    def begin(self, count: int, *arguments: str) -> None:
        """Start some at once."""
        for _ in range(count):
            command = [sys.executable, "-c", GRADER, *arguments]
            self.started.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
            )

    def took(self, process: subprocess.Popen[str]) -> int:
        """Return the next id that a process tells."""
        assert process.stdout is not None
        return int(process.stdout.readline())


def test_each_process_has_an_id_of_its_own() -> None:
    """As many at once as there are ids; none is given twice, and all are in the range."""
    with Graders() as graders:
        graders.begin(COUNT)
        taken = {graders.took(process) for process in graders.started}

    assert taken == set(range(FIRST, FIRST + COUNT))


def test_an_id_is_free_again_when_its_process_was_killed() -> None:
    """A grader that is killed tells nobody."""
    with Graders() as graders:
        graders.begin(COUNT)
        taken = [graders.took(process) for process in graders.started]
        graders.started[2].kill()
        graders.started[2].communicate()
        graders.begin(1)

        assert graders.took(graders.started[-1]) == taken[2]


def test_a_fork_has_not_its_parents_id() -> None:
    """A pool of forked processes grades as many students at a time."""
    with Graders() as graders:
        graders.begin(1, "forks")
        parent, child = (graders.took(graders.started[0]) for _ in range(2))

    assert parent != child


def test_more_graders_than_ids_share_one() -> None:
    """Rather than that nothing is graded."""
    with Graders() as graders:
        graders.begin(COUNT)
        taken = {graders.took(process) for process in graders.started}
        graders.begin(1)

        assert graders.took(graders.started[-1]) in taken
