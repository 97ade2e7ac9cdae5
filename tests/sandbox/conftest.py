"""A runtime for all workers of a test session, and short ways to run cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from autograder.sandbox.limits import Limits
from autograder.sandbox.outputs import clean_outputs
from autograder.sandbox.process import Worker
from autograder.sandbox.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(scope="session")
def runtime() -> Iterator[Runtime]:
    """The folder that workers are started from."""
    with Runtime() as runtime:
        yield runtime


@pytest.fixture
def limits() -> Limits:
    """Limits short enough to wait for."""
    return Limits(wall_time_s=1.5, notebook_time_s=60)


@pytest.fixture
def worker(runtime: Runtime, limits: Limits) -> Iterator[Worker]:
    """A process that runs cells."""
    worker = Worker(runtime, limits)
    yield worker
    worker.close()


@pytest.fixture
def run(worker: Worker) -> Callable[[str], list[dict[str, Any]]]:
    """Run a cell and return its cleaned outputs."""
    return lambda source: clean_outputs(worker.run_cell(source)[0])
