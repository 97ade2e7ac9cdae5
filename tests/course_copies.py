"""Copies of the course, to do with as a test likes."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.course.course import Course
from autograder.sandbox.wall import Tier, probe

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("nbgrader_config.py", "gradebook.db", "source", "release", "solutions")


def copy_course(root: Path) -> Course:
    """Copy the course as it is handed to instructors, no student yet, into a new folder."""
    root.mkdir()
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy(ROOT / part, root / part)
    if probe().tier is Tier.C:
        with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
            config.write("c.Autograder.unsafe_no_sandbox = True\n")
    return Course(root=root)
