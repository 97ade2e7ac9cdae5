"""Ruby and PHP, which the LMSs are written in: many cases go into one process, answers come as JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WALL_TIME_S = 60


def needs_ruby(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that is skipped where there is no Ruby."""
    return _needs("ruby", "Ruby", test)


def needs_php(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that is skipped where there is no PHP."""
    return _needs("php", "PHP", test)


def _needs(program: str, name: str, test: Callable[..., None]) -> Callable[..., None]:
    missing = shutil.which(program) is None
    marked: Callable[..., None] = pytest.mark.skipif(missing, reason=f"{name} is not installed")(test)
    return marked


def ruby(script: str, cases: Sequence[Any]) -> list[Any]:
    """Return what a script, in which ``cases`` is an array, says of each case: its last value."""
    begin = "require 'csv'; require 'json'; cases = JSON.parse($stdin.read)\n"
    return _run(["ruby", "-EUTF-8:UTF-8", "-e", f"{begin}puts JSON.generate(begin\n{script}\nend)"], cases)


def php(script: str, cases: Sequence[Any]) -> list[Any]:
    """Return what a script, in which ``$cases`` is an array, leaves in ``$answers`` for each case."""
    begin = "$cases = json_decode(file_get_contents('php://stdin'), true); $answers = [];"
    end = "echo json_encode($answers, JSON_THROW_ON_ERROR);"
    return _run(["php", "-d", "serialize_precision=-1", "-r", f"{begin}\n{script}\n{end}"], cases)


def _run(command: list[str], cases: Sequence[Any]) -> list[Any]:
    done = subprocess.run(
        command,
        input=json.dumps(list(cases)),
        capture_output=True,
        text=True,
        check=False,
        timeout=WALL_TIME_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers: list[Any] = json.loads(done.stdout)
    assert len(answers) == len(cases)
    return answers
