"""The number that says whether a submission must be graded again."""

from __future__ import annotations

import dataclasses
import shutil
from typing import TYPE_CHECKING

from graded_submissions import ASSIGNMENT

from autograder.course.secret import SECRET_VARIABLE
from autograder.course.settings import Settings, load_settings
from autograder.grading import fingerprint
from autograder.grading.fingerprint import Fingerprints

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from autograder.course.course import Course


def _edit(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def test_the_kit_and_the_checks_of_this_assignment_count(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new version of the grader or of a check is a new result; other pages or other checks are not."""
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdefghijklmnopqrstuvwxyz")
    kit = tmp_path / "kit"
    shutil.copytree(fingerprint.PACKAGE, kit, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "PACKAGE", kit)
    settings = load_settings(course.root)

    def now() -> str:
        return Fingerprints(course, settings, ASSIGNMENT).of("ana")

    first = now()
    for same in ("pages/wording.py", "gradebook/book.py", "checks/another_one/test_x.py"):
        (kit / same).parent.mkdir(exist_ok=True)
        (kit / same).touch()
        _edit(kit / same)
        assert now() == first, same
    for other in (
        "grader/grader.py",
        "sandbox/worker/shell.py",
        f"checks/{ASSIGNMENT}/test_forward.py",
        "checks/asserts.py",
    ):
        before = now()
        _edit(kit / other)
        assert now() != before, other


def test_no_two_submissions_look_alike(course: Course) -> None:
    """Names, contents and places of files all count, and so does whose they are."""
    one, two = (course.submitted(student, ASSIGNMENT) for student in ("ana", "ben"))
    prints = Fingerprints(course, load_settings(course.root), ASSIGNMENT)
    seen = {prints.of("ana"), prints.of("ben")}
    (one / "inner").mkdir(parents=True)
    two.mkdir(parents=True)

    changes: list[tuple[Path, bytes]] = [
        (one / "a", b"bc"),
        (one / "ab", b"c"),
        (one / "inner" / "a", b"bc"),
        (two / "a", b"bc"),
        (one / "a", b""),
    ]
    for path, content in changes:
        path.write_bytes(content)
        seen |= {prints.of("ana"), prints.of("ben")}
    (one / "a").unlink()
    seen.add(prints.of("ana"))

    assert len(seen) == 8


def test_links_and_what_the_course_ignores_count(course: Course) -> None:
    """A part of the grader that looks at it would give another result."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write('\nc.CourseDirectory.ignore = ["old*", "*.txt"]\n')
    folder = course.submitted("ana", ASSIGNMENT)
    (folder / "old").mkdir(parents=True)
    prints = Fingerprints(course, load_settings(course.root), ASSIGNMENT)
    seen = {prints.of("ana")}

    (folder / "old" / "a.ipynb").write_text("{}", encoding="utf-8")
    seen.add(prints.of("ana"))
    (folder / "timestamp.txt").write_text("2027-01-31 23:59:00 UTC", encoding="utf-8")
    seen.add(prints.of("ana"))
    for target in ("one", "two"):
        (folder / "link.ipynb").unlink(missing_ok=True)
        (folder / "link.ipynb").symlink_to(target)
        seen.add(prints.of("ana"))

    assert len(seen) == 5


def test_settings_are_all_weighed() -> None:
    """A new setting changes results until somebody says that it does not."""
    assert {one.name for one in dataclasses.fields(Settings)} >= fingerprint._NOT_RESULTS
