"""Running a suite of one module of checks on names of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograder.checks.suite import LocalNames

if TYPE_CHECKING:
    from autograder.checks.plugin import CheckRun
    from autograder.checks.suite import CheckSuite

CLAIMED = "@pytest.mark.points(1)\ndef test_it(student, rng):\n    'It holds.'\n"


def run(suite: CheckSuite, seed: bytes = b"ana", **namespace: Any) -> list[CheckRun]:
    """Run a suite's cell on some names."""
    return suite.run("test_cell", LocalNames(namespace), seed=seed)
