"""The secret of a course: made once, for its owner only, and never a weak one; and the seeds made from it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.course.secret import (
    MAX_LENGTH,
    MIN_DIFFERENT,
    MIN_LENGTH,
    SECRET_FILE,
    SECRET_VARIABLE,
    course_secret,
    seed_of,
)
from autograder.errors import OperatorError

ROOT = Path(__file__).parent.parent
SECRET = "correct horse battery staple, and more"  # noqa: S105 - of no course


@pytest.fixture(autouse=True)
def without_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the file decide."""
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)


def write(folder: Path, content: str | bytes, mode: int = 0o600) -> Path:
    """Write a secret as somebody else might have."""
    path = folder / SECRET_FILE
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return path


def test_it_is_made_at_first_use_for_its_owner_only(tmp_path: Path) -> None:
    """What is made stays, and nothing else is left behind."""
    secret = course_secret(tmp_path)

    assert len(secret) == 64
    assert course_secret(tmp_path) == secret == Course(root=tmp_path).secret()
    assert stat.S_IMODE((tmp_path / SECRET_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [SECRET_FILE]


def test_a_permissive_umask_lets_nobody_else_read_it(tmp_path: Path) -> None:
    """The mode is asked for when the file is made, not after."""
    before = os.umask(0)
    try:
        course_secret(tmp_path)
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / SECRET_FILE).stat().st_mode) == 0o600


def test_threads_that_start_at_once_get_the_same(tmp_path: Path) -> None:
    """With another secret a re-grade would draw other numbers."""
    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(lambda _: course_secret(tmp_path), range(32)))

    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == [SECRET_FILE]


def test_processes_that_start_at_once_get_the_same(tmp_path: Path) -> None:
    """Each waits for the others, so that all find no file."""
    code = (
        "import sys; from pathlib import Path; from autograder.course.secret import course_secret;"
        "print('ready', flush=True); sys.stdin.readline();"
        "print(course_secret(Path(sys.argv[1])).decode())"
    )
    course = tmp_path / "course"
    course.mkdir()
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(course)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(6)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    secrets = {process.communicate(timeout=60)[0] for process in started}

    assert all(process.returncode == 0 for process in started)
    assert secrets == {(course / SECRET_FILE).read_text(encoding="ascii")}
    assert [path.name for path in course.iterdir()] == [SECRET_FILE]


def test_two_courses_have_two_secrets(tmp_path: Path) -> None:
    """A new term is a new folder."""
    for name in ("autumn", "spring"):
        (tmp_path / name).mkdir()

    assert course_secret(tmp_path / "autumn") != course_secret(tmp_path / "spring")


def test_a_copied_course_repeats_its_grades(tmp_path: Path) -> None:
    """A backup with its secret draws the same numbers; one without draws others."""
    (tmp_path / "course").mkdir()
    secret = course_secret(tmp_path / "course")
    shutil.copytree(tmp_path / "course", tmp_path / "copy")
    (tmp_path / "clone").mkdir()

    assert course_secret(tmp_path / "copy") == secret
    assert course_secret(tmp_path / "clone") != secret


def test_one_may_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the file, or for several machines that grade one class in the environment, which goes first."""
    write(tmp_path, f"{SECRET}\n")
    assert course_secret(tmp_path) == SECRET.encode()

    monkeypatch.setenv(SECRET_VARIABLE, SECRET[::-1])
    assert course_secret(tmp_path) == SECRET[::-1].encode()


def test_the_environment_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written then."""
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)

    assert course_secret(tmp_path) == SECRET.encode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("s3cret\n", "is too short"),
        ("x" * (MIN_LENGTH - 1), "is too short"),
        ("0123456789abcdef" * 3, "was cut off"),
        ("0123456789ABCDEF" * 3, "was cut off"),
        ("DEADBEEF" * 4, "was cut off"),
        ("DEADBEEF" * 8, "repeats a few characters"),
        ("0" * 64, "repeats a few characters"),
        ("Z" * MIN_LENGTH, "repeats a few characters"),
        ("tiger27" * 5, "repeats a few characters"),
        ("0123456789abcdef" * 4 + "\n" + "x" * MAX_LENGTH, "is too long"),
    ],
)
def test_a_weak_or_damaged_one_is_refused(tmp_path: Path, content: str, told: str) -> None:
    """Everybody could compute the hidden inputs, or all would change unnoticed; it is not replaced."""
    path = write(tmp_path, content)

    with pytest.raises(OperatorError, match=told) as error:
        course_secret(tmp_path)
    assert path.read_text() == content
    assert str(path) in str(error.value)


def test_a_short_one_in_the_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever guesses it knows all hidden inputs; the message does not repeat it."""
    monkeypatch.setenv(SECRET_VARIABLE, "tiger2027")

    with pytest.raises(OperatorError, match="is too short") as error:
        course_secret(tmp_path)
    assert "tiger2027" not in str(error.value)


def test_as_many_characters_must_differ_as_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One fewer is refused in the environment, too; hex of full length may be in capitals."""
    letters = "stuvwxyz"
    assert len(letters) == MIN_DIFFERENT
    monkeypatch.setenv(SECRET_VARIABLE, letters[1:] * 5)
    with pytest.raises(OperatorError, match="repeats a few characters"):
        course_secret(tmp_path)

    for enough in (letters * 4, "0123456789ABCDEF" * 4):
        monkeypatch.setenv(SECRET_VARIABLE, enough)
        assert course_secret(tmp_path) == enough.encode()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o604, 0o777])
def test_one_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    """It says how to mend that."""
    write(tmp_path, SECRET, mode)

    with pytest.raises(OperatorError, match="chmod 600"):
        course_secret(tmp_path)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_refused(tmp_path: Path, exists: bool) -> None:  # noqa: FBT001 - a case
    """It may lead to what others know; nothing is made where it points."""
    (tmp_path / "course").mkdir()
    target = tmp_path / "elsewhere"
    if exists:
        target.write_text(SECRET)
        target.chmod(0o600)
    (tmp_path / "course" / SECRET_FILE).symlink_to(target)

    with pytest.raises(OperatorError, match="is a link"):
        course_secret(tmp_path / "course")
    assert target.exists() is exists


def test_what_is_no_file_is_the_operators_error(tmp_path: Path) -> None:
    """It is no student's fault, and nobody waits for a pipe."""
    for make in (os.mkdir, os.mkfifo):
        place = tmp_path / make.__name__
        place.mkdir()
        make(place / SECRET_FILE, 0o600)

        with pytest.raises(OperatorError):
            course_secret(place)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read and write everything")
def test_what_cannot_be_read_or_written_is_told(tmp_path: Path) -> None:
    """With the other way to give a secret."""
    (tmp_path / "course").mkdir(mode=0o500)
    with pytest.raises(OperatorError, match=SECRET_VARIABLE):
        course_secret(tmp_path / "course")

    write(tmp_path, SECRET, 0o000)
    with pytest.raises(OperatorError, match=SECRET_VARIABLE):
        course_secret(tmp_path)


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    """As for anybody who may not write."""
    with pytest.raises(OperatorError, match="cannot be read or written"):
        course_secret(tmp_path / "gone")


def test_the_repository_does_not_track_it() -> None:
    """A secret in a repository is none."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert f"/{SECRET_FILE}" in lines


def test_every_seed_is_another() -> None:
    """Secret, assignment, version and student each change it, and no two spellings meet."""
    secrets, assignments, students = (b"a" * 32, b"b" * 32), ("one", "one1", "on"), ("1", "11", "e1", "ana")
    cases = list(product(secrets, assignments, (1, 2, 11), students))

    seeds = {seed_of(*case) for case in cases}

    assert len(seeds) == len(cases)
    assert all(len(seed) == 32 for seed in seeds)
    assert seed_of(*cases[0]) == seed_of(*cases[0])
