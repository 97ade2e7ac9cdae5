"""Which attempt counts: the latest, as far as anything tells; where nothing does, a person decides."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from collect_courses import (
    ASSIGNMENT,
    FIRST,
    SECOND,
    collect,
    course_with_students,
    download,
    earlier,
    everything,
    inbound,
    submitted,
    upload,
)

from autograder.lms.collecting.record import load_record

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

NOTEBOOK, OTHER = f"{FIRST}.ipynb", f"{SECOND}.ipynb"


@pytest.fixture
def known(tmp_path: Path) -> Course:
    """Return a course whose gradebook has the three students."""
    return course_with_students(tmp_path)


def test_the_latest_attempt_wins_and_earlier_ones_stay(known: Course, tmp_path: Path) -> None:
    """By Canvas's numbers, in whatever order downloads come."""
    first = download(tmp_path / "1.zip", upload("501", 8801, b"first"), upload("502", 8802, b"b"))
    second = download(tmp_path / "2.zip", upload("501", 8899, b"second"), upload("502", 8802, b"b"))

    assert "1 updated" not in collect(known, first)[1]
    code, told = collect(known, second)
    assert (code, submitted(known)["aruiz"]) == (0, {NOTEBOOK: b"second"})
    assert "1 updated, 1 unchanged" in told
    assert earlier(known, "aruiz") == [{NOTEBOOK: b"first"}]
    before = everything(known.root)
    code, told = collect(known, first)
    assert (code, everything(known.root)) == (0, before)
    assert "1 older than what is there" in told
    assert load_record(known.root, ASSIGNMENT).students["aruiz"].archive == "2.zip"


def test_times_decide_where_they_are_told(known: Course, tmp_path: Path) -> None:
    """Several attempts in one download: the last one counts, with its time, the others are kept."""
    days = [("aruiz", f"2027-03-0{day} 10:05:0{day}.25 UTC", b"%d" % day) for day in (2, 3, 1)]
    assert collect(known, inbound(tmp_path / "in.zip", *days))[0] == 0

    stamp = b"2027-03-03 10:05:03.250000 UTC"
    assert submitted(known) == {"aruiz": {NOTEBOOK: b"3", "timestamp.txt": stamp}}
    assert known.handed_in_at("aruiz", ASSIGNMENT) == datetime(2027, 3, 3, 10, 5, 3, 250000)  # noqa: DTZ001
    assert [one[NOTEBOOK] for one in earlier(known, "aruiz")] == [b"1", b"2"]
    assert collect(known, inbound(tmp_path / "b.zip", ("aruiz", "2027-03-02 23:59:59.9 UTC", b"x")))[0] == 0
    assert submitted(known)["aruiz"][NOTEBOOK] == b"3"
    assert len(earlier(known, "aruiz")) == 3


def test_attempts_of_one_time_are_told(known: Course, tmp_path: Path) -> None:
    """Nothing is written for that student; others get theirs, and the same file twice is no tie."""
    time = "2027-03-03 10:05:00.0 UTC"
    one = inbound(tmp_path / "1.zip", ("aruiz", time, b"x"), ("blind", time, b"b"))
    other = inbound(tmp_path / "2.zip", ("aruiz", time, b"y"), ("blind", time, b"b"))
    code, told = collect(known, one, other)

    assert code == 1
    assert set(submitted(known)) == {"blind"}
    assert "aruiz: There are 2 attempts, and nothing tells which is the last" in told


def test_the_same_time_with_other_content_is_no_update(known: Course, tmp_path: Path) -> None:
    """An older download beside the same times would replace the newer work: it asks, and loses nothing."""
    attempt = "aruiz", "2027-03-03 10:05:00.0 UTC"
    newer, older = (
        inbound(tmp_path / name, (*attempt, name.encode())) for name in ("newer.zip", "older.zip")
    )
    assert collect(known, newer)[0] == 0
    code, told = collect(known, older)

    assert (code, submitted(known)["aruiz"][NOTEBOOK]) == (1, b"newer.zip")
    assert "nothing tells which is later" in told
    assert collect(known, older, "--force")[0] == 0
    assert submitted(known)["aruiz"][NOTEBOOK] == b"older.zip"
    assert [one[NOTEBOOK] for one in earlier(known, "aruiz")] == [b"newer.zip"]


def test_nothing_tells_which_of_two_folders_is_later(known: Course, tmp_path: Path) -> None:
    """Plain folders have no times: what is there stays until somebody decides."""
    down = tmp_path / "down"
    (down / "aruiz").mkdir(parents=True)
    (down / "aruiz" / NOTEBOOK).write_bytes(b"one")
    assert collect(known, down)[0] == 0
    (down / "aruiz" / NOTEBOOK).write_bytes(b"two")
    code, told = collect(known, down)

    assert (code, submitted(known)["aruiz"]) == (1, {NOTEBOOK: b"one"})
    assert "nothing tells which is later" in told
    assert collect(known, down, "--force")[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"two"}
    assert earlier(known, "aruiz") == [{NOTEBOOK: b"one"}]


def test_an_older_attempt_comes_back_on_demand(known: Course, tmp_path: Path) -> None:
    """As after a download of the wrong assignment: nothing is lost, and a later one replaces it again."""
    first = download(tmp_path / "1.zip", upload("501", 8801, b"first"))
    second = download(tmp_path / "2.zip", upload("501", 8899, b"second"))
    collect(known, first)
    collect(known, second)

    code, told = collect(known, first)
    assert (code, submitted(known)["aruiz"]) == (0, {NOTEBOOK: b"second"})
    assert "1 older than what is there" in told
    assert collect(known, first, "--force")[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"first"}
    assert {NOTEBOOK: b"second"} in earlier(known, "aruiz")
    assert collect(known, second)[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"second"}
