"""The image that Gradescope builds of a bundle."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from gradescope_container import (
    WARMUP,
    Container,
    bundled,
    here,
    plain_copy,
    solved,
    warm_up_seen_at_once,
)

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a copy of the course without pictures, which only take time here."""
    return plain_copy(tmp_path_factory.mktemp("course") / "course")


@pytest.fixture(scope="module")
def container(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Container:
    """Return Gradescope's folder with the bundle of the warm-up, whose checks are seen at once."""
    return warm_up_seen_at_once(course, tmp_path_factory.mktemp("gradescope"))


@pytest.mark.slow
@pytest.mark.sandbox
def test_the_image_is_built_and_grades(course: Course, tmp_path: Path) -> None:
    """With nothing but what setup.sh installs, the scripts grade as with the environment at hand."""
    container = Container(tmp_path / "autograder", bundled(course, tmp_path / "b.zip"))
    # The slowest part of pip, and of no use to one run.
    environment = {**os.environ, "AUTOGRADER_ROOT": str(container.root), "PIP_NO_COMPILE": "1"}
    built = subprocess.run(
        ["bash", str(container.root / "source" / "setup.sh")],
        env={name: value for name, value in environment.items() if name != "PYTHONPATH"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout
    assert "student code runs behind a wall of tier" in built.stdout
    container.submit(solved(course, WARMUP, "columns_sum_to_one"))

    ran = container.run(AUTOGRADER_PYTHON="")

    again = here(container, solved(course, WARMUP, "columns_sum_to_one"))
    assert ran.results is not None, ran.printed
    assert {**ran.results, "execution_time": 0} == {**again, "execution_time": 0}
    names = {path.name.partition("-")[0] for path in (container.root / "venv").rglob("*.dist-info")}
    assert not names & {"jupyterlab", "nbgrader", "sqlalchemy", "canvasapi"}


def test_an_image_that_is_too_old_is_told(container: Container, tmp_path: Path) -> None:
    """Where no Python is new enough, the system's installer is asked, and then the instructor."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "cat", "env", "grep", "ldconfig", "setpriv"):
        if found := shutil.which(name, path=f"{os.environ['PATH']}:/sbin:/usr/sbin"):
            (programs / name).symlink_to(found)
    for name, line in (("apt-get", f'echo "$@" >> {tmp_path}/asked'), ("python3", "exit 1")):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)

    done = subprocess.run(
        [str(programs / "bash"), str(container.root / "source" / "setup.sh")],
        env={"PATH": str(programs), "AUTOGRADER_ROOT": str(container.root)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "choose a newer Ubuntu" in done.stderr
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert "python3-venv" in asked
    assert "python3.12-venv" in asked
