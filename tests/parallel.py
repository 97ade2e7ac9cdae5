"""How the tests are shared out among processes, and what they tell together at the end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from collections.abc import Iterable

TOGETHER = {
    "tests/attacks/test_attacks.py": "attacks",
    "tests/attacks/test_selftest.py": "attacks",
    "tests/test_demo.py": "demo",
    "tests/test_leaks.py": "demo",
}
"""Modules that share what takes long to make; each other module goes to a process by itself."""

LONGEST = (
    "attacks",
    "tests/test_blame.py",
    "demo",
    "tests/attacks/test_forgeries.py",
    "tests/test_resume.py",
)
"""What is begun first, in an order in which not all at once want more than one core."""

Sections = dict[str, list[str]]
_SECTIONS = pytest.StashKey[Sections]()

MOST = 8
"""Processes: with more, they wait for the longest module, and each of them loads all modules."""


def processes_for(config: pytest.Config) -> int:
    """Return how many processes are worth their start: for named tests none but this one."""
    if config.args_source is config.ArgsSource.ARGS or config.option.keyword:
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST) if cores > 1 else 0


def unit_of(nodeid: str) -> str:
    """Return the name of what goes to a process as a whole, of which a test is a part."""
    module = nodeid.partition("::")[0]
    return TOGETHER.get(module, module)


class Sharing(LoadScopeScheduling):  # type: ignore[misc]  # it has no annotations
    """
    Gives each process that has nothing to do the next module.

    What a module makes once is then made once, and its tests meet in one
    process as they do without any others.
    """

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def longest_first(items: list[pytest.Item]) -> None:
    """Put what takes long at the beginning, so that no process works alone at the end."""
    slow = {unit_of(item.nodeid) for item in items if item.get_closest_marker("slow")}

    def rank(item: pytest.Item) -> int:
        unit = unit_of(item.nodeid)
        return LONGEST.index(unit) if unit in LONGEST else len(LONGEST) + (unit not in slow)

    items.sort(key=rank)


def sections(config: pytest.Config) -> Sections:
    """Return what is printed below the tests, by title; a process of several hands it on."""
    if hasattr(config, "workeroutput"):
        return config.workeroutput.setdefault("sections", {})  # type: ignore[no-any-return]
    return config.stash.setdefault(_SECTIONS, {})


def print_at_end(config: pytest.Config, title: str, lines: Iterable[str]) -> None:
    """Print a section below the tests, whatever is captured and wherever they ran."""
    sections(config)[title] = list(lines)
