"""Whatever a student hands in on Gradescope: it is copied whole, or they read what to mend."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from crafted_tars import HOSTILE
from gradescope_container import METADATA, zipped

from autograder.errors import OperatorError, SubmissionError
from autograder.lms.bundles.gradescope_submission import copy_submission, read_metadata

BOOK = "hw1.ipynb"


def copied(tmp_path: Path, files: dict[str, bytes]) -> dict[str, bytes]:
    """Hand in some files, and return what is copied."""
    submission, folder = tmp_path / "submission", tmp_path / "copy"
    for name, data in files.items():
        (submission / name).parent.mkdir(parents=True, exist_ok=True)
        (submission / name).write_bytes(data)
    copy_submission(submission, folder)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_what_version_control_leaves_is_no_part_of_it(tmp_path: Path) -> None:
    """A repository handed in from GitHub has thousands of files that nobody needs; a zip of it as well."""
    objects = {f".git/objects/{number}": b"x" for number in range(2100)}

    assert copied(tmp_path, {**objects, BOOK: b"1", "a.zip": zipped({**objects, "b.csv": b"2"})}) == {
        BOOK: b"1",
        "b.csv": b"2",
    }


def test_too_many_files_are_the_students_to_mend(tmp_path: Path) -> None:
    """It is their fault, and they read so."""
    with pytest.raises(SubmissionError, match="holds more than 2000 files") as raised:
        copied(tmp_path, {f"data/{number}": b"" for number in range(2001)})

    assert str(tmp_path) not in str(raised.value)


@pytest.mark.parametrize("name", ["timestamp.txt", "Timestamp.TXT"])
@pytest.mark.parametrize("packed", [False, True])
def test_when_it_was_handed_in_gradescope_says(tmp_path: Path, name: str, *, packed: bool) -> None:
    """A student's own file of that name is not copied: it may hold no time, or another one."""
    files = {name: b"\xff\x00 no time", BOOK: b"1", f"data/{name}": b"2"}

    assert copied(tmp_path, {"a.zip": zipped(files)} if packed else files) == {
        BOOK: b"1",
        f"data/{name}": b"2",
    }


def test_no_name_of_a_student_takes_the_place_of_what_is_unpacked(tmp_path: Path) -> None:
    """Whatever is called as the folder in which an archive would be unpacked."""
    taken = {"a.zip unpacked": b"1", "unpacked 1/x": b"2", "UNPACKED 2": b"3", "b.csv": b"4"}

    assert copied(tmp_path, {**taken, "a.zip": zipped({"b.csv": b"5"})}) == {
        **taken,
        "unpacked 3/b.csv": b"5",
    }


def test_names_that_are_too_long_are_told(tmp_path: Path) -> None:
    """In an archive, or with the folder in which it is unpacked."""
    long = "/".join(["\N{GRINNING FACE}" * 60] * 5)
    with pytest.raises(SubmissionError, match="longer than a disk takes"):
        copied(tmp_path / "1", {"a.zip": zipped({f"{long}.ipynb": b"1"})})
    with pytest.raises(SubmissionError, match=r"x\.zip: holds a name that is longer"):
        copied(tmp_path / "2", {"x" * 248 + ".zip": zipped({BOOK: b"1"}), BOOK: b"2"})


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_machine_that_fails_is_no_fault_of_the_students(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A full disk is the operator's to mend."""
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / BOOK).write_bytes(b"1")

    def fails(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(OperatorError, match=os.strerror(number)):
        copy_submission(tmp_path / "submission", tmp_path / "copy")


@pytest.mark.parametrize("trick", HOSTILE)
def test_a_hostile_tar_is_told_by_its_name(tmp_path: Path, trick: str) -> None:
    """The student reads which file it is; nothing of the kit breaks."""
    with pytest.raises(SubmissionError, match=r"^a\.tar: "):
        copied(tmp_path, {"a.tar": HOSTILE[trick], BOOK: b"1"})


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01", "2027-03-01T10:00+99:99"]
)
@pytest.mark.parametrize("where", ["created_at", "due_date"])
def test_a_time_at_the_end_of_the_calendar_is_none(tmp_path: Path, at: str, where: str) -> None:
    """What has no time in UTC tells nothing, and stops nobody."""
    metadata = json.loads(json.dumps(METADATA))
    metadata["users"] = [{"id": 7, "assignment": {"due_date": at}}] if where == "due_date" else []
    metadata["assignment"] = {}
    metadata["created_at"] = at if where == "created_at" else metadata["created_at"]
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(metadata), encoding="utf-8")

    told = read_metadata(path)

    assert told.late_s == 0
    assert (told.submitted_at is None) == (where == "created_at")
