"""A suite of one module of checks, written by the test."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from autograder.checks.suite import CheckSuite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Suite = Callable[..., CheckSuite]

HEAD = """
import numpy as np
import pytest
from autograder.checks.asserts import Mismatch
from autograder.checks.student import StudentError

"""


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    """Return a suite of one module, written by the test."""
    made = []

    def suite(text: str) -> CheckSuite:
        (tmp_path / "lesson").mkdir()
        (tmp_path / "lesson" / "test_cell.py").write_text(HEAD + dedent(text))
        made.append(CheckSuite("lesson", root=tmp_path))
        return made[-1]

    yield suite
    for one in made:
        one.close()
