"""Copies of the course to work on, and submissions to put into them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import hypothesis
import pytest
from course_copies import ROOT, copy_course
from parallel import Sharing, longest_first, processes_for, sections

from autograder.course.course import Course
from autograder.errors import NotebookError
from autograder.notebook import read_notebook, write_notebook
from autograder.variants import combined_cells, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from xdist.workermanage import WorkerController

    HandIn = Callable[..., Path]

ASSIGNMENT = "multi_head_attention"
# What else runs on the machine decides how long an example takes.
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start as many processes as there are cores; named tests run in this one."""
    return processes_for(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Sharing | None:
    """Share tests out by module, unless another way is asked for."""
    if config.option.dist != "load":
        return None
    # They come in the order that they are to be begun in.
    config.option.loadscopereorder = False
    return Sharing(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the order to chance, but begin early what takes long where there are several processes."""
    if hasattr(config, "workerinput"):
        longest_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController, error: object) -> None:  # noqa: ARG001 - as pytest-xdist calls it
    """Take over what a process wants to be printed."""
    sections(node.config).update(getattr(node, "workeroutput", {}).get("sections", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print it."""
    for title, lines in sections(config).items():
        terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let what is kept from run to run, also by kernels, be kept in a folder of the tests'."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        yield folder


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a copy of the course of this test's own."""
    return copy_course(tmp_path / "course")


@pytest.fixture(scope="module")
def shared_course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a copy of the course for the tests of a module that leave its source alone."""
    return copy_course(tmp_path_factory.mktemp("shared") / "course")


@pytest.fixture
def hand_in(course: Course) -> HandIn:
    """
    Return a function that hands in for a student.

    It fills the released notebooks with the instructor's solutions, those of
    the named variants taking their place, and returns the folder.
    """

    def hand_in(student: str, *variants: str, blank: bool = False, timestamp: str = "") -> Path:
        folder = course.submitted(student, ASSIGNMENT)
        folder.mkdir(parents=True)
        from known_solutions import BY_NAME  # noqa: PLC0415 - reading them takes a while

        chosen = [BY_NAME[name] for name in variants]
        for released in sorted(course.release(ASSIGNMENT).glob("*.ipynb")):
            notebook = read_notebook(released, error=NotebookError)
            source = read_notebook(course.source(ASSIGNMENT) / released.name, error=NotebookError)
            handed_in = notebook if blank else fill(notebook, combined_cells(source, chosen))
            write_notebook(folder / released.name, handed_in)
        if timestamp:
            (folder / "timestamp.txt").write_text(timestamp + "\n", encoding="utf-8")
        return folder

    return hand_in


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Course, str]:
    """Run the demo as a user does, once for all tests; return its course and what it printed."""
    target = tmp_path_factory.mktemp("demo") / "course"
    before = _checkout()
    command = [sys.executable, "-m", "autograder", "demo", "--to", str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert _checkout() == before
    return Course(root=target), done.stdout


def _checkout() -> set[tuple[str, int]]:
    """Return every file of the course in the checkout with its time of change."""
    parts = [ROOT / "gradebook.db", *(ROOT / name for name in ("source", "release", "solutions"))]
    files = [path for part in parts for path in ([part] if part.is_file() else part.rglob("*"))]
    new = {
        name
        for name in ("submitted", "autograded", "feedback", "reports", "exports")
        if (ROOT / name).exists()
    }
    return {(str(path), path.stat().st_mtime_ns) for path in files if "__pycache__" not in path.parts} | {
        (name, 0) for name in new
    }
