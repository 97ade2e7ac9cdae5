"""Names that a disk refuses cost their owner alone; a full disk or a lost right ends all."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest
from collect_courses import (
    ASSIGNMENT,
    FIRST,
    collect,
    download,
    earlier,
    files,
    light_course,
    roster,
    submitted,
    upload,
)
from crafted_zips import zip_bytes

from autograder.course.course import Course
from autograder.lms.collecting import folders
from autograder.lms.collecting.record import load_record

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.lms.collecting.handed import Handed

NOTEBOOK = f"{FIRST}.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with nobody in it."""
    return light_course(tmp_path / "course")


def three(path: Path, data: bytes, display: str = "work.zip", number: int = 0) -> Path:
    """Write a download of three students, the one in the middle with something of their own."""
    uploads = (upload("501", number + 1, b"a"), upload("502", number + 2, data, display))
    return download(path, *uploads, upload("503", number + 3, b"m%d" % number))


def test_a_folder_called_as_the_time_is_no_obstacle(course: Course, tmp_path: Path) -> None:
    """What is in it is put elsewhere, and the time that the LMS tells is written all the same."""
    hostile = zip_bytes({f"timestamp.txt/{NOTEBOOK}": b"b", "Timestamp.TXT/x.csv": b"c"})
    code, told = collect(course, three(tmp_path / "a.zip", hostile), ASSIGNMENT, "--roster", roster(tmp_path))
    inbound = tmp_path / "inbound"
    for student, data in (("aruiz", {NOTEBOOK: b"2"}), ("blind", {"x.zip": hostile})):
        for name, content in data.items():
            path = inbound / f"{student}+{ASSIGNMENT}+2027-03-01 10:05:00 UTC" / name
            path.parent.mkdir(parents=True)
            path.write_bytes(content)

    assert (code, set(submitted(course))) == (0, {"aruiz", "blind", "jmuller"}), told
    assert submitted(course)["blind"] == {
        f"work/timestamp.txt/{NOTEBOOK}": b"b",
        "work/Timestamp.TXT/x.csv": b"c",
    }
    assert collect(course, inbound, ASSIGNMENT, "--force")[0] == 0
    assert submitted(course)["blind"] == {
        f"x/timestamp.txt/{NOTEBOOK}": b"b",
        "x/Timestamp.TXT/x.csv": b"c",
        "timestamp.txt": b"2027-03-01 10:05:00.000000 UTC",
    }


def test_a_path_that_is_too_long_for_any_disk_is_refused(course: Course, tmp_path: Path) -> None:
    """Letters may be of four bytes: bytes count."""
    path = "/".join(["\N{GRINNING FACE}" * 60] * 5) + ".ipynb"
    hostile = zip_bytes({path: b"x", NOTEBOOK: b"b"})
    code, told = collect(course, three(tmp_path / "a.zip", hostile), ASSIGNMENT, "--roster", roster(tmp_path))

    assert (code, submitted(course)["blind"]) == (1, {NOTEBOOK: b"b"})
    assert submitted(course)["jmuller"] == {NOTEBOOK: b"m0"}
    assert "longer than a disk takes" in told


def test_a_path_that_this_disk_refuses_costs_its_owner(course: Course, tmp_path: Path) -> None:
    """Deep in other folders a name is too long that elsewhere would do: the rest is collected, and again."""
    deepest = os.pathconf(tmp_path, "PC_PATH_MAX")
    step = "d" * 150
    deep = "/".join([step] * ((deepest - len(os.fsencode(course.root)) - 600) // len(f"{step}/")))
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.submitted_directory = {deep!r}\n")
    course = Course(root=course.root)
    path = "/".join(["n" * 160] * 5) + ".ipynb"
    words = (ASSIGNMENT, "--roster", roster(tmp_path))
    for number in (10, 20):
        hostile = three(tmp_path / f"{number}.zip", zip_bytes({path: b"x"}), number=number)
        code, told = collect(course, hostile, *words)
        assert (code, set(submitted(course))) == (1, {"aruiz", "jmuller"})
        assert "lindqvistbo_502: blind: " in told
        assert "none that the disk takes (" in told
        assert "1 not collected" in told
        record = load_record(course.root, ASSIGNMENT)
        assert (list(record.students), dict(record.pending)) == (["aruiz", "jmuller"], {})

    good = three(tmp_path / "good.zip", b"b", NOTEBOOK, 30)
    assert collect(course, good, *words)[0] == 0
    assert submitted(course)["blind"] == {NOTEBOOK: b"b"}


ITS_OWNERS = [
    *(OSError(number, os.strerror(number)) for number in (errno.ENAMETOOLONG, errno.EISDIR, errno.EINVAL)),
    *(OSError(number, os.strerror(number)) for number in (errno.ENOTDIR, errno.EILSEQ, errno.EEXIST)),
    UnicodeEncodeError("latin-1", "\N{GRINNING FACE}", 0, 1, "no such letter"),
]
THE_MACHINES = [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO, errno.EPERM, errno.EMFILE]


@pytest.mark.parametrize("error", ITS_OWNERS, ids=repr)
def test_whatever_a_disk_says_of_a_name_costs_its_owner(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """What was there stays, and is known; others get theirs."""
    words = (ASSIGNMENT, "--roster", roster(tmp_path))
    collect(course, three(tmp_path / "1.zip", b"b1", NOTEBOOK), *words)
    fail_for(monkeypatch, error)
    code, told = collect(course, three(tmp_path / "2.zip", b"b2", NOTEBOOK, 10), *words)

    assert code == 1
    assert "blind" in told
    assert submitted(course)["jmuller"] == {NOTEBOOK: b"m10"}
    assert submitted(course)["blind"] == {NOTEBOOK: b"b1"}
    assert earlier(course, "blind") == []
    assert load_record(course.root, ASSIGNMENT).students["blind"].archive == "1.zip"
    assert [name for name in files(course.root) if "~" in name] == []
    monkeypatch.undo()
    assert collect(course, tmp_path / "2.zip", *words)[0] == 0
    assert submitted(course)["blind"] == {NOTEBOOK: b"b2"}


@pytest.mark.parametrize("number", THE_MACHINES, ids=errno.errorcode.get)
def test_what_the_machine_cannot_do_ends_the_run(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """It concerns everybody, is told as the operator's, and the same command goes on later."""
    fail_for(monkeypatch, OSError(number, os.strerror(number)))
    words = (three(tmp_path / "1.zip", b"b1", NOTEBOOK), ASSIGNMENT, "--roster", roster(tmp_path))
    code, told = collect(course, *words)

    assert code != 0
    assert "Check rights and space" in told
    assert set(submitted(course)) == {"aruiz"}
    monkeypatch.undo()
    assert collect(course, *words)[0] == 0
    assert set(submitted(course)) == {"aruiz", "blind", "jmuller"}


def fail_for(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let the disk refuse what is Bo's."""
    real = folders._written

    def fails(handed: Handed, scratch: Path) -> Path:
        if handed.student == "blind":
            raise error
        return real(handed, scratch)

    monkeypatch.setattr(folders, "_written", fails)
