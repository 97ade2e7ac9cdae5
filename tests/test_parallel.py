"""The tests run side by side: each module in one process, the slow ones first, and named ones at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from parallel import LONGEST, TOGETHER, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[list[dict[str, str]], str]]

TESTS = Path(__file__).parent
MODULE = """
import json, os, time
from pathlib import Path

import pytest
from parallel import print_at_end

pytestmark = [{marks}]


@pytest.mark.parametrize("number", range(4))
def test_it(number, request):
    line = {{"module": {module!r}, "process": os.environ.get("PYTEST_XDIST_WORKER", "own")}}
    with Path("ran.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\\n")
    print_at_end(request.config, {module!r}, ["said once"])
    time.sleep({sleep_s})
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs four small modules as ours are run, and tells what ran where."""
    tests = tmp_path / "tests"
    (tests / "attacks").mkdir(parents=True)
    for name in ("conftest.py", "course_copies.py", "parallel.py"):
        shutil.copy(TESTS / name, tests)
    for module, mark in (("quick", ""), ("slow", "slow"), ("attacks/test_attacks", ""), ("other", "")):
        path = tests / (f"{module}.py" if "/" in module else f"test_{module}.py")
        marks = f"pytest.mark.{mark}" if mark else ""
        path.write_text(MODULE.format(module=module, marks=marks, sleep_s=0.05 if module == "quick" else 0.1))
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nmarkers = slow: takes long\n")

    def run(*arguments: str) -> tuple[list[dict[str, str]], str]:
        command = [sys.executable, "-m", "pytest", *arguments]
        names = ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")
        environment = {name: value for name, value in os.environ.items() if name not in names}
        environment["PYTHONPATH"] = str(TESTS.parent)
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        lines = (tmp_path / "ran.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines], done.stdout

    return run


def test_a_module_goes_to_one_process_and_the_longest_begin(run: Run) -> None:
    """What it has made once serves all its tests; and every process tells what it has to say."""
    ran, shown = run("-n", "2")
    places = {
        line["module"]: {one["process"] for one in ran if one["module"] == line["module"]} for line in ran
    }
    begun = {line["process"]: line["module"] for line in reversed(ran)}

    assert len(ran) == 16
    assert [len(processes) for processes in places.values()] == [1, 1, 1, 1]
    assert set(begun.values()) == {"attacks/test_attacks", "slow"}
    assert shown.count("said once") == 4


@pytest.mark.parametrize("named", [("tests/test_quick.py",), ("-k", "quick")])
def test_named_tests_start_no_process(run: Run, named: tuple[str, ...]) -> None:
    """A second process would have to load and collect everything, for a test of a moment."""
    ran, shown = run("-n", "auto", *named)

    assert [(line["module"], line["process"]) for line in ran] == [("quick", "own")] * 4
    assert shown.count("said once") == 1


def test_what_is_named_here_is_there() -> None:
    """A module that was renamed would be on its own, or late, and nobody would see it."""
    units = {unit_of(f"{path.relative_to(TESTS.parent)}::test_it") for path in TESTS.rglob("test_*.py")}

    assert [module for module in TOGETHER if not (TESTS.parent / module).exists()] == []
    assert [unit for unit in LONGEST if unit not in units] == []
