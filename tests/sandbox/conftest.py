"""The sandbox of this machine, for all tests of a session, and short ways to run cells in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wall import probe
from autograder.sandbox.zygote import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.sandbox.process import Worker


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The best wall that this machine can build."""
    with Sandbox(probe()) as sandbox:
        yield sandbox


@pytest.fixture
def limits() -> Limits:
    """Limits short enough to wait for."""
    return Limits(wall_time_s=1.5, notebook_time_s=60)


@pytest.fixture
def start(sandbox: Sandbox, limits: Limits) -> Iterator[Callable[..., Worker]]:
    """Start a process; it is closed at the end of the test."""
    started: list[Worker] = []

    def start(limits: Limits = limits, **options: Any) -> Worker:
        for worker in started:
            worker.close()
        started.append(sandbox.start(limits, **options))
        return started[-1]

    yield start
    for worker in started:
        worker.close()


@pytest.fixture
def worker(start: Callable[..., Worker]) -> Worker:
    """A process that runs cells."""
    return start(origin=Origin(plots=True))


@pytest.fixture
def run(worker: Worker) -> Callable[[str], list[dict[str, Any]]]:
    """Run a cell and return its cleaned outputs."""
    return lambda source: worker.run_cell(source).outputs
