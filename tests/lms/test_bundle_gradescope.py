"""The bundle holds what grading needs, gives nothing else away, and is the same every time."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from gradescope_container import BOOK, MAIN, WARMUP, Container, bundled, here, plain_copy
from submissions import cell

from autograder.commands.bundling import shown_of
from autograder.course.course import Course
from autograder.course.secret import SECRET_FILE
from autograder.errors import CourseError, NotebookError
from autograder.lms.gradescope import Visibility
from autograder.notebook import dump_notebook, read_notebook

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a copy of the course without pictures, which only take time here."""
    return plain_copy(tmp_path_factory.mktemp("course") / "course")


def test_the_same_course_gives_the_same_bytes(course: Course, tmp_path: Path) -> None:
    """Whoever bundles again can tell that nothing has changed."""
    first = bundled(course, tmp_path / "one.zip")
    os.utime(course.source(WARMUP) / BOOK, (1, 1))
    second = bundled(course, tmp_path / "two.zip")

    assert first.read_bytes() == second.read_bytes()


def test_the_zip_is_as_gradescope_wants_it(course: Course, tmp_path: Path) -> None:
    """Both scripts stand at the root, may be run, and have the line ends of Unix."""
    with zipfile.ZipFile(bundled(course, tmp_path / "one.zip")) as archive:
        for name in ("setup.sh", "run_autograder"):
            mode = archive.getinfo(name).external_attr >> 16
            assert stat.S_ISREG(mode)
            assert mode & 0o111 == 0o111
            script = archive.read(name)
            assert script.startswith(b"#!/usr/bin/env bash\n")
            assert b"\r" not in script
        for info in archive.infolist():
            if info.filename not in {"setup.sh", "run_autograder"}:
                assert (info.external_attr >> 16) & 0o077 == 0, f"others can read {info.filename}"


def test_nothing_of_the_course_leaks_that_grading_does_not_need(course: Course, tmp_path: Path) -> None:
    """The course's secret, its gradebook, its students and other assignments stay at home."""
    (course.submitted("ana", WARMUP)).mkdir(parents=True)
    path = bundled(course, tmp_path / "one.zip")

    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        texts = {name: archive.read(name) for name in names}
    (course.submitted("ana", WARMUP)).rmdir()
    secret = course.secret()
    assert len(secret) >= 32
    assert [name for name, data in texts.items() if secret in data] == []
    assert len(texts[f"course/{SECRET_FILE}"].strip()) == 64
    assert [name for name in names if MAIN in name and "reference" not in name] == []
    assert not any("gradebook.db" in name or "submitted" in name for name in names)
    assert b"db_url" not in texts["course/nbgrader_config.py"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_grading_imports_is_installed(course: Course, tmp_path: Path) -> None:
    """A package that grading imports and the bundle does not name would be missing in the image."""
    from importlib.metadata import packages_distributions, requires  # noqa: PLC0415 - used here alone

    from packaging.requirements import Requirement  # noqa: PLC0415 - the same

    with zipfile.ZipFile(bundled(course, tmp_path / "one.zip")) as archive:
        lines = archive.read("requirements.txt").decode().split()
        pins = set(archive.read("constraints.txt").decode().split())
    assert set(lines) <= pins
    waiting = [line.partition("==")[0] for line in lines]
    installed: set[str] = set()
    while waiting:
        if (name := waiting.pop().lower().replace("_", "-")) in installed:
            continue
        installed.add(name)
        needed = map(Requirement, requires(name) or ())
        waiting += [one.name for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    code = (
        "import sys, autograder.commands.gradescope, autograder.checks.suite, autograder.diagnosis,"
        " autograder.checks.illustrating, IPython.core.interactiveshell, matplotlib.pyplot, pyseccomp,"
        " dateutil.parser, autograder.pages.template; print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    known = packages_distributions()
    loaded = {
        one.lower().replace("_", "-") for name in done.stdout.split() for one in known.get(name, ())
    } - {"autograder", "setuptools"}

    assert loaded <= installed
    assert {"numpy", "ipython"} <= loaded


TEST = "assert f() == 1\n# HIDE\nassert f() == 1 + 0\n# SHOW"


def course_of_other_rules(root: Path) -> Course:
    """Make and release a course with marks, a gradebook and cells around its notebook of its own."""
    from nbgrader_courses import cell as made  # noqa: PLC0415 - nbgrader's own course is needed here alone
    from nbgrader_courses import make_course, notebook, release_with_nbgrader  # noqa: PLC0415 - the same

    book = notebook(
        [
            made("solution", "f", "# ANSWER\ndef f():\n    return 1\n# DONE"),
            made("test", "test_f", TEST, 2),
        ]
    )
    own = make_course(
        root,
        {"one": book},
        "c.ClearSolutions.begin_solution_delimeter = 'ANSWER'",
        "c.ClearSolutions.end_solution_delimeter = 'DONE'",
        "c.ClearHiddenTests.begin_test_delimeter = 'HIDE'",
        "c.ClearHiddenTests.end_test_delimeter = 'SHOW'",
        "c.IncludeHeaderFooter.header = 'around/head.ipynb'",
        "c.CourseDirectory.ignore.append('*.bak')",
        "c.CourseDirectory.db_url = 'sqlite:///other.db'",
    )
    (own.root / "around").mkdir()
    head = notebook([made("readonly", "head", "given = 1")])
    (own.root / "around" / "head.ipynb").write_text(dump_notebook(head), encoding="utf-8")
    (own.source("ps1") / "data.csv").write_text("1,2\n", encoding="utf-8")
    (own.source("ps1") / "notes.bak").write_text("for staff", encoding="utf-8")
    release_with_nbgrader(own)
    return own


@pytest.mark.sandbox
def test_a_notebook_of_other_rules_is_graded_the_same_without_a_gradebook(tmp_path: Path) -> None:
    """Marks of a course's own, and cells around every notebook, are written out in the bundle."""
    own = course_of_other_rules(tmp_path / "course")

    container = Container(tmp_path / "autograder", bundled(own, tmp_path / "b.zip", "ps1"))

    there = Course(root=container.root / "source" / "course")
    (mine,), (theirs,) = own.released("ps1"), there.released("ps1")
    assert [replace(one, rules=mine.rules) for one in theirs.layout] == list(mine.layout)
    assert there.released("ps1")[0].cell("test_f").source == TEST
    files = {path.name for path in there.source("ps1").iterdir()}
    assert files == {"one.ipynb", "data.csv"}
    answered = read_notebook(own.release("ps1") / "one.ipynb", error=NotebookError)
    cell(answered, "f")["source"] = "def f():\n    return 1"
    right = here(container, {"one.ipynb": dump_notebook(answered).encode()})
    cell(answered, "f")["source"] = "def f():\n    return 2"
    wrong = here(container, {"one.ipynb": dump_notebook(answered).encode()})
    assert (right["score"], wrong["score"]) == (2, 0)


def test_what_is_shown_when_is_checked_at_once(course: Course) -> None:
    """A mistyped name would show to students what was meant to be hidden."""
    shown = shown_of(course, WARMUP, "hidden", ["test_softmax=visible"])

    assert shown.check("test_softmax", "test_any") is Visibility.VISIBLE
    assert shown.check("test_attention", "test_any") is Visibility.HIDDEN
    for wrong, nearest in (("test_softmx=visible", "test_softmax"), ("test_softmax=visibel", "visible")):
        with pytest.raises(CourseError, match=nearest):
            shown_of(course, WARMUP, "hidden", [wrong])


def test_a_check_may_be_shown_by_its_name(course: Course) -> None:
    """One check of a cell can be seen before the others."""
    from autograder.checks.suite import modules  # noqa: PLC0415 - it imports pytest's own machinery

    tree = ast.parse(modules(WARMUP)["test_softmax"].read_text(encoding="utf-8"))
    name = next(one.name for one in tree.body if isinstance(one, ast.FunctionDef) and one.name[:4] == "test")

    shown = shown_of(course, WARMUP, "after_published", [f"{name}=visible"])

    assert shown.check("test_softmax", f"{name}[case]") is Visibility.VISIBLE
    assert shown.check("test_softmax", "test_other") is Visibility.AFTER_PUBLISHED
